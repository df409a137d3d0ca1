"""`rostopic_to_rostopic`: topics between ROS 1 and ROS 2, from rospy to rclpy and back through one rostrans."""
import unittest

from peers import eventually
from ros1 import STRING, Ros1Test

STRING2 = "std_msgs/msg/String"
MINUTE = 60 * 200


def rule(*links, ends=""):
    """A bridge of these links."""
    return f"- {{rule_id: bridge, direction: rostopic_to_rostopic, {ends}links: [{', '.join(links)}]}}\n"


def carries(topic, msg_type, more=""):
    return f"{{topic: {topic}, msg_type: {msg_type}{more}}}"


class Bridge(Ros1Test):
    def bridge(self, rules, **kwargs):
        return self.rostrans(version="all", rules=rules, **kwargs)

    def test_imus_cross_both_ways_at_200_hz_for_a_minute_without_loss(self):
        imu = "sensor_msgs/msg/Imu"
        self.bridge(rule(carries("/up", imu), carries("/down", imu)), limit=130)
        count = ["--count", str(MINUTE), "--timeout", "110"]
        heard = [self.ros2("sub", imu, "/up", *count, "--quiet", "--depth", "1000", limit=130),
                 self.rospy("sub", "sensor_msgs/Imu", "/down", *count, "--quiet", "--depth", "1000", limit=130)]
        sent = [*count, "--rate", "200", "--stamp", "--depth", "1000", "--settle", "3", "--json", '{"header": {"frame_id": "imu"}}']
        said = [self.rospy("pub", "sensor_msgs/Imu", "/up", *sent, limit=130),
                self.ros2("pub", imu, "/down", *sent, limit=130)]
        for program in said + heard:
            self.assertEqual(program.finish(125), 0, str(program))
            self.assertEqual(program.all("summary")[-1]["count"], MINUTE)

    def test_one_topic_both_ways_makes_no_loop(self):
        daemon = self.bridge(rule(carries("/talk", STRING2)))
        quiet = ["--timeout", "14", "--quiet"]
        heard = [self.rospy("sub", STRING, "/talk", *quiet), self.ros2("sub", STRING2, "/talk", *quiet)]
        sent = ["--count", "100", "--rate", "100", "--settle", "3", "--json", '{"data": "{i}"}', "--wait", "2"]
        # Each has its own graph's listener and rostrans.
        said = [self.rospy("pub", STRING, "/talk", *sent), self.ros2("pub", STRING2, "/talk", *sent)]
        for program in said:
            self.assertEqual(program.finish(), 0, f"{program}\n{daemon}")
        for program in heard:
            program.finish(20)
            self.assertEqual(program.all("summary")[-1]["count"], 200, f"{program}\n{daemon}")

    def test_latched_topics_stay_latched(self):
        daemon = self.bridge(rule(carries("/map", STRING2), carries("/plan", STRING2)))
        sent = ["--count", "1", "--durability", "transient_local", "--wait", "0", "--linger", "40", "--timeout", "50"]
        self.rospy("pub", STRING, "/map", *sent, "--json", '{"data": "the map"}')
        self.ros2("pub", STRING2, "/plan", *sent, "--json", '{"data": "the plan"}')
        # Both are said and over before anybody listens.
        for topic in ("/map", "/plan"):
            eventually(lambda topic=topic: [line for line in list(daemon.noise) if f"topic={topic} " in line
                                            and "latched=true" in line])
        want = ["--count", "1", "--durability", "transient_local", "--timeout", "20"]
        late = [(self.ros2("sub", STRING2, "/map", *want), "the map"), (self.rospy("sub", STRING, "/plan", *want), "the plan")]
        for program, text in late:
            self.assertEqual(program.finish(), 0, f"{program}\n{daemon}")
            self.assertEqual(program.all("msg")[0]["msg"], {"data": text})

    def test_best_effort_stays_best_effort_and_names_may_differ(self):
        daemon = self.bridge(rule(carries("/scan", STRING2, ", to_topic: /old/scan"), ends="from: ros2, to: ros1, "))
        pub = self.ros2("pub", STRING2, "/scan", "--reliability", "best_effort", "--count", "0", "--rate", "20",
                        "--json", '{"data": "s{i}"}', "--timeout", "30")
        sub = self.rospy("sub", STRING, "/old/scan", "--count", "10", "--timeout", "25")
        self.assertEqual(sub.finish(), 0, f"{sub}\n{pub}\n{daemon}")
        self.assertTrue([line for line in list(daemon.noise) if "topic=/scan " in line and "reliable=false" in line])


if __name__ == "__main__":
    unittest.main()
