"""Discovery by multicast, the default of every ROS 2 program.

Runs tests of the other modules again in a network namespace whose loopback interface has multicast, so that nothing
leaves the host.
"""
import sys
import unittest

from peers import PROGRAMS, PeerTest

AGAIN = ("test_ros2_topics.Topics.test_all_subscribers_of_one_topic_get_the_same",
         "test_ros2_topics.Topics.test_image_jazzy_to_kilted",
         "test_ros2_services.Services.test_one_server_answers_both_conventions_at_once")


class Multicast(PeerTest):
    def test_peers_find_each_other_by_multicast(self):
        again = self.start(PROGRAMS / "loopback_ns.sh", sys.executable, "-m", "unittest", *AGAIN,
                           env={"ROSTRANS_TEST_RANGE": "SUBNET", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, limit=150)
        self.assertEqual(again.finish(140), 0, str(again))
        self.assertIn("OK", again.noise)


if __name__ == "__main__":
    unittest.main()
