#!/usr/bin/env python3
"""An action server or client of example_interfaces/action/Fibonacci on rclpy.

  ros2_action.py serve /fib --period 0.1      computes a number each period, up to the order of the goal
  ros2_action.py call  /fib --order 5         sends a goal; with --cancel, cancels it at the first feedback

Prints `ready` (a server also `watched`, once somebody subscribes to its topics), then `goal`, `feedback`, `cancel`,
`result`; status texts are those of action_msgs/msg/GoalStatus. The client also prints `status`, each list of its
status topic as it comes. A client exits 0 after --count results, 1 after --timeout; a server stays until then.
"""
import argparse
import time

import peerlib
import rclpy
from action_msgs.msg import GoalStatus, GoalStatusArray
from example_interfaces.action import Fibonacci
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile

WORDS = {getattr(GoalStatus, name): name.removeprefix("STATUS_").lower() for name in dir(GoalStatus)
         if name.startswith("STATUS_")}


def word(status):
    return WORDS.get(status, str(status))


class Server:
    """Refuses negative orders; else counts until done or canceled."""

    def __init__(self, node, args):
        self.args = args
        self.server = ActionServer(
            node, Fibonacci, args.name, self.execute, goal_callback=self.goal, cancel_callback=self.cancel,
            callback_group=ReentrantCallbackGroup())
        peerlib.emit("ready")
        self.node, self.timer = node, node.create_timer(0.05, self.look)

    def look(self):
        """Feedback is volatile: what is sent before somebody listens is gone."""
        if all(self.node.count_subscribers(f"{self.args.name}/_action/{topic}") for topic in ("feedback", "status")):
            self.timer.cancel()
            peerlib.emit("watched")

    def goal(self, goal):
        accepted = goal.order >= 0
        peerlib.emit("goal", order=goal.order, accepted=accepted)
        return GoalResponse.ACCEPT if accepted else GoalResponse.REJECT

    def cancel(self, _):
        peerlib.emit("cancel")
        return CancelResponse.ACCEPT

    def execute(self, handle):
        sequence = [0, 1]
        # A client may be called before this end has found its subscription to the feedback.
        time.sleep(0.5)
        while len(sequence) < handle.request.order and not handle.is_cancel_requested:
            sequence.append(sequence[-1] + sequence[-2])
            handle.publish_feedback(Fibonacci.Feedback(sequence=sequence))
            time.sleep(self.args.period)
        if handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.succeed()
        peerlib.emit("result", status=word(handle.status), sequence=sequence)
        return Fibonacci.Result(sequence=sequence)


class Client:
    """Sends one goal after the other."""

    def __init__(self, node, args):
        self.args, self.done, self.handle = args, 0, None
        self.client = ActionClient(node, Fibonacci, args.name)
        # Deep enough that one list does not push out the one before it.
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        node.create_subscription(GoalStatusArray, args.name + "/_action/status", self.status, latched)
        peerlib.emit("ready")
        if not self.client.wait_for_server(timeout_sec=args.timeout):
            raise SystemExit("no action server")
        peerlib.emit("matched")
        self.send()

    def status(self, array):
        peerlib.emit("status", goals=[word(goal.status) for goal in array.status_list])

    def send(self):
        goal = Fibonacci.Goal(order=self.args.order)
        self.client.send_goal_async(goal, feedback_callback=self.feedback).add_done_callback(self.answered)

    def answered(self, future):
        self.handle = future.result()
        peerlib.emit("goal", accepted=self.handle.accepted)
        if self.handle.accepted:
            self.handle.get_result_async().add_done_callback(self.result)
        else:
            self.done += 1

    def feedback(self, message):
        peerlib.emit("feedback", sequence=list(message.feedback.sequence))
        if self.args.cancel and self.handle is not None:
            self.args.cancel = False
            self.handle.cancel_goal_async().add_done_callback(
                lambda future: peerlib.emit("cancel", code=future.result().return_code))

    def result(self, future):
        answer = future.result()
        peerlib.emit("result", status=word(answer.status), sequence=list(answer.result.sequence))
        self.done += 1
        if self.done < self.args.count:
            self.send()


def run():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("role", choices=("serve", "call"))
    top.add_argument("name")
    top.add_argument("--order", type=int, default=5)
    top.add_argument("--period", type=float, default=0.1)
    top.add_argument("--cancel", action="store_true")
    top.add_argument("--count", type=int, default=1)
    top.add_argument("--timeout", type=float, default=30.0)
    args = top.parse_args()
    rclpy.init()
    node = rclpy.create_node("action_" + args.role)
    executor = MultiThreadedExecutor(2)
    executor.add_node(node)
    peer = (Server if args.role == "serve" else Client)(node, args)
    end = time.monotonic() + args.timeout
    while time.monotonic() < end:
        if args.role == "call" and peer.done >= args.count:
            return 0
        executor.spin_once(timeout_sec=0.1)
    return 1


if __name__ == "__main__":
    peerlib.main(run)
