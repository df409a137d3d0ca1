"""The DDS adapter in the ROS graph, as stock nodes see it."""
import unittest

from peers import BINARIES, JAZZY, KILTED, PeerTest

STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
IMAGE_HASH = "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47"


class Graph(PeerTest):
    def test_node_topics_types_hashes_and_qos_are_listed(self):
        probe = self.start(BINARIES / "dds_probe",
                           "--relay", "std_msgs/msg/String", "/robot/in", "/robot/out", "reliable",
                           "--relay", "sensor_msgs/msg/Image", "/cam/in", "/cam/out", "sensor",
                           "--forward", "std_srvs/srv/SetBool", "/robot/front", "/robot/back")
        probe.wait("ready")
        for python in (JAZZY, KILTED):
            with self.subTest(str(python)):
                graph = self.ros2("graph", "-", "/dds_probe", "--timeout", "25", python=python)
                self.assertEqual(graph.finish(), 0, str(graph))
                self.check(graph)

    def check(self, graph):
        self.assertEqual(graph.all("nodes")[0]["nodes"], ["/dds_probe"], str(graph))
        topics = {e["topic"]: e for e in graph.all("topic")}
        string = {"node": "/dds_probe", "type": "std_msgs/msg/String", "hash": STRING_HASH,
                  "reliability": "reliable", "durability": "volatile"}
        image = {"node": "/dds_probe", "type": "sensor_msgs/msg/Image", "hash": IMAGE_HASH,
                 "reliability": "best_effort", "durability": "volatile"}
        for topic, side, want in (("/robot/out", "publishers", string), ("/robot/in", "subscribers", string),
                                  ("/cam/out", "publishers", image), ("/cam/in", "subscribers", image)):
            [endpoint] = topics[topic][side]
            self.assertEqual({k: endpoint[k] for k in want}, want, topic)
        [node] = [e for e in graph.all("node") if e["node"] == "/dds_probe"]
        self.assertEqual(node["publishers"], {"/robot/out": ["std_msgs/msg/String"], "/cam/out": ["sensor_msgs/msg/Image"]})
        self.assertEqual(node["subscribers"], {"/robot/in": ["std_msgs/msg/String"], "/cam/in": ["sensor_msgs/msg/Image"]})
        self.assertEqual(node["services"], {"/robot/front": ["std_srvs/srv/SetBool"]})
        self.assertEqual(node["clients"], {"/robot/back": ["std_srvs/srv/SetBool"]})


if __name__ == "__main__":
    unittest.main()
