"""Topics, services, latched topics and the graph between the Zenoh adapter and other programs on the wire of rmw_zenoh.

The probe relays from one topic to another and answers one service by calling another, so each test proves both ways.
"""
import json
import unittest
import zlib

import peerlib
from peers import eventually
from zenohs import STRING, STRING_KEY, ZenohTest, ask, attachment, cdr_string, old_attachment, tell

IMU = "sensor_msgs/msg/Imu"
IMAGE = "sensor_msgs/msg/Image"
SET_BOOL = "std_srvs/srv/SetBool"
IMAGE_LEN = 1280 * 720 * 3
IMAGE_CRC = zlib.crc32(peerlib.pattern(IMAGE_LEN))


class Topics(ZenohTest):
    def exchange(self, probe, kind, values, count=5, rate=8, extra=()):
        """Sends through the relay until count messages have come; returns them."""
        sub = self.zenoh("sub", kind, "/out", "--count", str(count))
        sub.wait("ready", 30)
        pub = self.zenoh("pub", kind, "/in", "--json", json.dumps(values), "--count", str(count + 5), "--rate", str(rate),
                         *extra)
        self.assertEqual(sub.finish(45), 0, f"{sub}\n{pub}\n{probe}")
        self.assertEqual([e for e in probe.all("relayed") if e["error"]], [])
        return [e["msg"] for e in sub.all("msg")]

    def check_strings(self, mode):
        probe = self.probe(mode, "--relay", STRING, "/in", "/out", "reliable")
        got = self.exchange(probe, STRING, {"data": "grüß {i}"})
        numbers = [int(m["data"].split()[1]) for m in got]
        self.assertEqual([m["data"] for m in got], [f"grüß {i}" for i in range(numbers[0], numbers[0] + 5)])
        # 0 before they found each other, and again when the subscriber had enough.
        eventually(lambda: {e["matched"] for e in probe.all("relayed")} - {0} == {1})

    def test_strings_as_peer(self):
        self.router()
        self.check_strings("peer")

    def test_strings_as_client(self):
        self.router()
        self.check_strings("client")

    def test_two_peers_that_know_only_our_router(self):
        self.check_strings("router")

    def test_small_and_big_messages(self):
        probe = self.probe("router", "--relay", IMU, "/in", "/out", "sensor")
        values = {"header": {"frame_id": "base_link"}, "linear_acceleration": {"x": 0.5, "y": -1.25, "z": 9.81},
                  "orientation": {"w": 1.0}}
        for msg in self.exchange(probe, IMU, values):
            self.assertEqual(msg["linear_acceleration"], values["linear_acceleration"])
            self.assertEqual(msg["header"]["frame_id"], "base_link")
        probe.close()
        probe = self.probe("router", "--relay", IMAGE, "/in", "/out", "reliable")
        values = {"width": 1280, "height": 720, "encoding": "bgr8", "step": 3840}
        for msg in self.exchange(probe, IMAGE, values, rate=4, extra=("--fill", f"data={IMAGE_LEN}")):
            self.assertEqual(msg["data"], {"len": IMAGE_LEN, "crc32": IMAGE_CRC})
            self.assertEqual((msg["step"], msg["encoding"]), (3840, "bgr8"))

    def test_services_both_ways(self):
        self.router()
        probe = self.probe("client", "--forward", SET_BOOL, "/front", "/back")
        answer = '{"success":true,"message":"done {i}"}'
        server = self.zenoh("serve", SET_BOOL, "/back", "--json", answer, "--count", "3")
        server.wait("ready", 30)
        client = self.zenoh("call", SET_BOOL, "/front", "--json", '{"data":true}', "--count", "3", "--rate", "0")
        self.assertEqual(client.finish(45), 0, f"{client}\n{probe}\n{server}")
        self.assertEqual([e["msg"]["message"] for e in client.all("response")], [f"done {i}" for i in range(3)])
        self.assertEqual([e["msg"]["data"] for e in server.all("request")], [True] * 3)
        self.assertEqual([probe.wait("forwarded")["error"] for _ in range(3)], [None] * 3)

    def test_late_subscriber_gets_our_latched_samples(self):
        samples = [cdr_string(f"kept {i}") for i in range(4)]
        self.probe("router", "--latch", STRING, "/kept", "3", ",".join(samples))
        wire = self.wire()
        tell(wire, "late", key=f"{self.domain}/kept/{STRING_KEY}", depth=10)
        got = [wire.wait("sample") for _ in range(3)]
        self.assertEqual([s["payload"] for s in got], samples[1:])
        # 33 bytes with the sequence number first.
        self.assertEqual([(len(s["attachment"]), s["attachment"][:4]) for s in got],
                         [(66, "0200"), (66, "0300"), (66, "0400")])

    def test_we_get_what_others_kept_for_us(self):
        self.router()
        wire, samples = self.wire(), [cdr_string(f"kept {i}") for i in range(4)]
        tell(wire, "latch", key=f"{self.domain}/in/{STRING_KEY}", payloads=samples, attachment=attachment(), depth=3)
        tell(wire, "late", key=f"{self.domain}/out/{STRING_KEY}", depth=10)
        self.probe("client", "--relay", STRING, "/in", "/out", "latched")
        self.assertEqual([wire.wait("sample")["payload"] for _ in range(3)], samples[1:])

    def test_old_attachments_and_other_hashes_are_read(self):
        probe, wire = self.probe("router", "--relay", STRING, "/in", "/out", "reliable"), self.wire()
        tell(wire, "sub", key=f"{self.domain}/out/**")
        kind = STRING_KEY.split("/")[0]
        for hash_, beside in (("TypeHashNotSupported", attachment()), ("RIHS01_other", old_attachment())):
            tell(wire, "put", key=f"{self.domain}/in/{kind}/{hash_}", payload=cdr_string(hash_), attachment=beside)
            self.assertEqual(wire.wait("sample")["payload"], cdr_string(hash_))
        self.assertEqual([probe.wait("relayed")["stamp_ns"] for _ in range(2)], [1_700_000_000_000_000_000] * 2)

    def test_graph_shows_our_node_and_its_endpoints(self):
        probe = self.probe("router", "--relay", STRING, "/in", "/out", "sensor", "--forward", SET_BOOL, "/front", "/back")
        wire = self.wire()
        keys = ask(wire, "tokens", "tokens", key=f"@ros2_lv/{self.domain}/**")["keys"]
        session = keys[0].split("/")[2]
        start = f"@ros2_lv/{self.domain}/{session}/0"
        shown = sorted(key.removeprefix(start).split("/", 2)[2] for key in keys)
        service = "std_srvs::srv::dds_::SetBool_/RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a"
        self.assertEqual(shown, [
            f"MP/%/%/zenoh_probe/%out/{STRING_KEY}/2::,5:,:,:,,",
            f"MS/%/%/zenoh_probe/%in/{STRING_KEY}/2::,5:,:,:,,",
            "NN/%/%/zenoh_probe",
            f"SC/%/%/zenoh_probe/%back/{service}/::,10:,:,:,,",
            f"SS/%/%/zenoh_probe/%front/{service}/::,10:,:,:,,",
        ])
        probe.stop()
        eventually(lambda: wire.process.poll() is not None
                   or not ask(wire, "tokens", "tokens", key=f"@ros2_lv/{self.domain}/**")["keys"])


class Restarts(ZenohTest):
    def check_resumes(self, mode):
        """Traffic before, and after the router was killed and started again."""
        router = self.router()
        probe, wire = self.probe(mode, "--relay", STRING, "/in", "/out", "reliable"), self.wire()
        tell(wire, "sub", key=f"{self.domain}/out/**")
        self.pass_on(wire, "before")
        router.kill()
        router.process.wait()
        self.router()
        self.pass_on(wire, "after")
        self.assertIsNone(probe.process.poll())

    def pass_on(self, wire, text):
        """Sends until it comes back through the probe."""
        def back():
            tell(wire, "put", key=f"{self.domain}/in/{STRING_KEY}", payload=cdr_string(text), attachment=attachment())
            return any(s["payload"] == cdr_string(text) for s in wire.all("sample"))

        eventually(back, 30, 0.2)

    def test_client_resumes_when_the_router_is_back(self):
        self.check_resumes("client")

    def test_peer_resumes_when_the_router_is_back(self):
        self.check_resumes("peer")

    def test_start_without_a_router(self):
        for mode in ("client", "peer"):
            with self.subTest(mode):
                self.setUp()
                probe = self.probe(mode, "--relay", STRING, "/in", "/out", "reliable",
                                   "--latch", STRING, "/kept", "1", cdr_string("early"))
                probe.wait_text("no Zenoh router or peer yet")
                self.router()
                wire = self.wire()
                tell(wire, "sub", key=f"{self.domain}/out/**")
                self.pass_on(wire, "late")
                tell(wire, "late", key=f"{self.domain}/kept/{STRING_KEY}", depth=1)
                eventually(lambda: any(s["payload"] == cdr_string("early") for s in wire.all("sample")))


class Malformed(ZenohTest):
    def test_bad_samples_and_tokens_are_counted_and_others_live(self):
        probe, wire = self.probe("router", "--relay", STRING, "/in", "/out", "reliable"), self.wire()
        tell(wire, "sub", key=f"{self.domain}/out/**")
        key, good = f"{self.domain}/in/{STRING_KEY}", cdr_string("good")
        for bad in ({}, {"attachment": ""}, {"attachment": attachment()[:-2]}, {"attachment": old_attachment()[:20]},
                    {"attachment": attachment().replace("10" + "07" * 16, "11" + "07" * 16)}):
            tell(wire, "put", key=key, payload=good, **bad)
        tell(wire, "put", key=key, payload="0001", attachment=attachment())
        tell(wire, "put", key=f"{self.domain}/in/geometry_msgs::msg::dds_::Twist_/RIHS01_x", payload=good,
             attachment=attachment())
        for token in ("x", "a/b/c", "0z/0/0/NN/%/%/n", "a/0/1/MS/%/%/n/%out/t/h/bad", "a/0/1/QQ/%/%/n"):
            tell(wire, "token", key=f"@ros2_lv/{self.domain}/{token}")
        # Another type on the topic we publish: said once.
        tell(wire, "token", key=f"@ros2_lv/{self.domain}/{wire.zid}/0/9/MS/%/%/other/%out/std_msgs::msg::dds_::Bool_/h/::,:,:,:,,")
        tell(wire, "put", key=key, payload=good, attachment=attachment())
        self.assertEqual(wire.wait("sample")["payload"], good)
        probe.wait_text("the subscription has another type")
        probe.process.stdin.close()
        summary = probe.wait("summary")
        probe.finish()
        self.assertEqual((summary["received"], summary["malformed"], summary["wrong_type"]), (1, 6, 1), str(probe))
        self.assertEqual(summary["malformed_tokens"], 5)
        log = "\n".join(probe.noise)
        for line in ("sample refused", "malformed liveliness token ignored", "another type is published; refused",
                     "the subscription has another type"):
            self.assertEqual(log.count(line), 1, f"{line}\n{log}")

    def test_bad_requests_are_refused_and_others_answered(self):
        probe = self.probe("router", "--forward", SET_BOOL, "/front", "/back")
        wire = self.wire()
        server = self.zenoh("serve", SET_BOOL, "/back", "--json", '{"success":true}', "--count", "1")
        server.wait("ready", 30)
        key = (f"{self.domain}/front/std_srvs::srv::dds_::SetBool_/"
               "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a")
        request = "0001000001"
        for bad in ({}, {"payload": request}, {"payload": request, "attachment": "00"},
                    {"payload": "00", "attachment": attachment()}):
            ask(wire, "get", "end", key=key, **bad)
        self.assertEqual(wire.all("reply"), [])
        ask(wire, "get", "end", key=key, payload=request, attachment=attachment(5))
        reply, = wire.all("reply")
        # Sequence number and GID are those of the request, the time is another.
        self.assertEqual((reply["attachment"][:16], reply["attachment"][32:]), (attachment(5)[:16], attachment(5)[32:]))
        self.assertNotEqual(reply["attachment"][16:32], attachment(5)[16:32])
        probe.wait_text("request refused")
        self.assertEqual("\n".join(probe.noise).count("request refused"), 1)


if __name__ == "__main__":
    unittest.main()
