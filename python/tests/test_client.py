"""Tests of the client, against a server in this process that keeps the contract of docs/api.md."""

import hashlib
import http.server
import itertools
import json
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.parse

import numpy as np

from tiebreak import APIError, Client, prior_scale

HANG_UP = -1
MEAN, STD = np.array([1.0, -2.0]), np.array([0.5, 3.0])


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def reply(self, status, value, **header):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for k, v in header.items():
            self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        server, url = self.server, urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        server.asked.append(self.path)
        if self.headers["Authorization"] != "Bearer tbk_right":
            return self.reply(401, {"code": "unauthorized", "message": "No."})
        if server.busy:
            server.busy -= 1
            return self.reply(429, {"code": "too_many_requests", "message": "Wait."}, Retry_After="0")
        if url.path == "/api/v1/recordings":
            return self.reply(200, {"recordings": [], "uploads": [{"name": n, "bytes": len(b)} for n, b in server.files.items()]})
        if url.path == "/api/v1/sessions":
            return self.reply(200, {"sessions": [{"id": "s1"}]})
        if url.path == "/api/v1/sessions/s1/answers":
            rows = [{"seq": k, "id": f"i{k}", "event": "answer"} for k in range(1, 8) if k > int(query["after"])]
            return self.reply(200, b"".join(json.dumps(r).encode() + b"\n" for r in rows[:3]))
        if url.path == "/api/v1/sessions/s1/answers/stream":
            return self.stream(int(query["after"]))
        if url.path == "/api/v1/sessions/s1/posterior":
            return self.reply(200, {"seq": 7, "mean": MEAN.tolist(), "covariance": np.diag(STD**2).tolist()})
        self.reply(404, {"code": "not_found", "message": "This session does not exist."})

    def do_DELETE(self):
        name = self.path.removeprefix("/api/v1/recordings/uploads/")
        if name not in self.server.files:
            return self.reply(409, {"code": "conflict", "message": "The recordings rollouts-pick show the videos of this upload."})
        del self.server.files[name]
        self.reply(200, {"name": name})

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        if self.path.startswith("/api/v1/recordings/uploads/"):
            name, kind = self.path.removeprefix("/api/v1/recordings/uploads/").split("?kind=")
            content = self.rfile.read(size)
            if self.server.busy:
                self.server.busy -= 1
                return self.reply(429, {"code": "too_many_requests", "message": "Wait."}, Retry_After="0")
            self.server.files[name] = content
            self.server.asked.append((self.headers["Content-Type"], kind))
            return self.reply(200, {"set": "uploaded/" + name})
        body = json.loads(self.rfile.read(size))
        if self.path == "/api/v1/recordings":
            self.server.asked.append(body)
            return self.reply(200, {"name": body["name"], "plan": ["50 episodes"], "begun": True})
        if self.path.endswith("/arenas"):
            self.server.asked.append(body)
            return self.reply(200, {"id": "a1"})
        if self.path.endswith("/trajectories"):
            return self.upload(size, body["trajectories"])
        phi = np.array(body["features"])
        self.server.asked.append(len(phi))
        self.reply(200, {"seq": 7, "mean": (phi @ MEAN).tolist(), "std": np.sqrt(phi**2 @ STD**2).tolist()})


    def stream(self, after):
        """Does the next that the test has listed: a status, or so many rows, after which the connection is cut within a line."""
        act = self.server.acts.pop(0) if self.server.acts else 502
        if act == HANG_UP:
            return
        if act >= 100:
            return self.reply(act, b"<html>", Retry_After="0")
        self.send_response(200)
        self.send_header("Content-Length", "1000")  # more than comes
        self.end_headers()
        for seq in range(after + 1, after + 1 + act):
            self.wfile.write(json.dumps({"seq": seq, "id": f"i{seq}", "event": "answer"}).encode() + b"\n")
        self.wfile.write(b'{"seq')

    def upload(self, size, given):
        """Names clips by their content, as the server does."""
        self.server.asked.append((size, len(given)))
        self.server.given = given
        time.sleep(self.server.slow)
        names = [hashlib.sha256(json.dumps(t, sort_keys=True).encode()).hexdigest() for t in given]
        self.reply(200, {"seq": 0, "total": len(names), "trajectories": [{"clip": n} for n in names]})


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.asked, self.server.busy, self.server.slow = [], 0, 0.0
        self.server.acts, self.server.files = [], {}
        thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self.client = Client(self.url, "tbk_right")

    def test_answers_come_page_by_page(self):
        s = self.client.session("s1")
        self.assertEqual([r["seq"] for r in s.answers()], list(range(1, 8)))
        self.assertEqual([r["seq"] for r in s.answers(after=5)], [6, 7])
        self.assertEqual(s.wait_for_answers(after=7, seconds=1), [])
        self.assertIn("wait=1", self.server.asked[-1])

    def test_rewards_of_many_rows(self):
        phi = np.random.default_rng(1).normal(size=(25_000, 2))
        mean, std = self.client.session("s1").reward(phi)
        np.testing.assert_allclose(mean, phi @ MEAN, rtol=1e-12)
        np.testing.assert_allclose(std, np.hypot(phi[:, 0] * STD[0], phi[:, 1] * STD[1]), rtol=1e-12)
        self.assertEqual(self.server.asked, [10_000, 10_000, 5_000])
        for bad in ([1.0, 2.0], [[np.nan, 1.0]], [[np.inf, 1.0]]):
            with self.assertRaises(ValueError):
                self.client.session("s1").reward(bad)

    def test_recordings_are_uploaded_imported_and_discarded(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x" * 100_000)
            file.flush()
            self.server.busy = 1  # the file is sent again, from its beginning
            self.assertEqual(self.client.upload_recordings("pick", file.name), "uploaded/pick")
        self.assertEqual(self.client.recordings()["uploads"], [{"name": "pick", "bytes": 100_000}])
        self.assertEqual(self.server.asked[0], ("application/octet-stream", "archive"))
        self.assertEqual(self.client.import_recordings("uploaded/pick", "pick", policy_column="policy"), ["50 episodes"])
        self.assertEqual(self.server.asked[-1], {"set": "uploaded/pick", "name": "pick", "policy_column": "policy"})
        self.client.discard_upload("pick")
        self.assertEqual(self.server.files, {})
        with self.assertRaises(APIError) as refused:
            self.client.discard_upload("pick")
        self.assertEqual((refused.exception.status, refused.exception.code), (409, "conflict"))

    def test_uploads_are_cut_by_count_and_by_bytes(self):
        def trajectory(k, side=0):
            t = {"observations": [[k], [k]], "actions": [[0.0]], "features": [[0.0]]}
            return t | ({"frames": np.random.default_rng(k).integers(0, 256, (2, side, side, 3), np.uint8)} if side else {"scenes": [{}, {}]})

        s = self.client.session("s1")
        small, large = [trajectory(k) for k in range(120)], [trajectory(k, side=500) for k in range(9)]  # of 2 MB each
        self.assertEqual(len(set(s.upload(small))), 120)
        self.assertEqual([n for _, n in self.server.asked], [50, 50, 20])
        self.server.asked.clear()
        ids = s.upload(large)
        self.assertEqual(len(set(ids)), 9)
        self.assertEqual([n for _, n in self.server.asked], [3, 3, 3])
        self.assertTrue(all(size <= 8_000_000 for size, _ in self.server.asked), self.server.asked)
        self.assertEqual(s.upload(large[2:7]), ids[2:7], "the same clip in another request has the same name")
        self.server.asked.clear()
        with self.assertRaisesRegex(ValueError, "trajectory 1 has .* MiB"):
            s.upload([small[0], trajectory(1, side=2500)])
        self.assertEqual(s.upload([]), [])
        self.assertEqual(self.server.asked, [])

    def test_an_arena_of_uploads(self):
        s = self.client.session("s1")
        t = {"observations": [[0], [1]], "actions": [[0.0]], "features": [[0.0]], "scenes": [{}, {}]}
        s.upload([t | {"policy": "new", "task": "open the drawer", "start": 7}, t | {"start": 0}, t | {"policy": None, "task": ""}])
        said = [{k: g[k] for k in ("policy", "task", "start") if k in g} for g in self.server.given]
        self.assertEqual(said, [{"policy": "new", "task": "open the drawer", "start": "7"}, {"start": "0"}, {}])
        arena = self.client.new_arena("Which?", [{"set": s, "policy": "new"}, {"set": "s1", "policy": "old", "title": "Old"}], budget=9)
        self.assertEqual(arena.id, "a1")
        self.assertEqual(self.server.asked[-1], {"title": "Which?", "entrants": [{"set": "s1", "policy": "new"}, {"set": "s1", "policy": "old", "title": "Old"}], "budget": 9})

    def test_uploads_are_cut_by_pixels(self):
        def still(k):
            return {"observations": [[k], [k]], "actions": [[0.0]], "features": [[0.0]], "frames": np.zeros((2, 2048, 2048, 3), np.uint8)}

        self.client.session("s1").upload([still(k) for k in range(9)])  # of 8 million pixels each
        self.assertEqual([n for _, n in self.server.asked], [8, 1])

    def test_prior_scale_takes_clips_or_their_features(self):
        clips = [{"features": [[1.0, 0.0], [2.0, 0.0]]}, {"features": [[5.0, 0.0]]}]
        self.assertEqual(prior_scale(clips).tolist(), [3.0, 1.0])
        self.assertEqual(prior_scale([np.array(c["features"]) for c in clips]).tolist(), [3.0, 1.0])
        for bad in ([], clips[:1], [[1.0, 2.0], [3.0, 4.0]], np.zeros((4, 2)), [{"features": [[1.0]]}, {"features": [[1.0, 2.0]]}]):
            with self.assertRaisesRegex(ValueError, "two clips or more"):
                prior_scale(bad)

    def test_an_upload_may_take_longer_than_other_requests(self):
        self.server.slow = 0.5
        hasty = Client(self.url, "tbk_right", timeout=0.1).session("s1")
        self.assertEqual(len(hasty.upload([{"observations": [[0], [1]], "actions": [[0]], "features": [[0]], "scenes": [{}, {}]}])), 1)

    def test_posterior(self):
        seq, mean, covariance = self.client.session("s1").posterior()
        self.assertEqual((seq, mean.shape, covariance.shape), (7, (2,), (2, 2)))

    def test_a_busy_server_is_asked_again(self):
        self.server.busy = 2
        self.assertEqual(self.client.sessions(), [{"id": "s1"}])
        self.assertEqual(len(self.server.asked), 3)
        self.server.busy = 5
        with self.assertRaises(APIError) as e:
            Client(self.url, "tbk_right", tries=2).sessions()
        self.assertEqual(e.exception.code, "too_many_requests")

    def test_following_is_patient_from_the_first_failure(self):
        for lost in ([HANG_UP], [502, 503, HANG_UP, 504], [429]):
            self.server.acts = [2, *lost, 2, 404]  # row 2 comes again, for it may have had more lines
            rows = Client(self.url, "tbk_right", tries=1).session("s1").follow(patience=30)
            with self.subTest(lost), unittest.mock.patch("time.sleep"), unittest.mock.patch("time.monotonic", lambda: self.now):
                self.now = 0.0
                seen = [next(rows)["seq"], next(rows)["seq"]]
                self.now = 100.0  # it works longer than its patience
                seen.append(next(rows)["seq"])
                self.assertEqual(seen, [1, 2, 3])
                with self.assertRaises(APIError) as e:
                    next(rows)
                self.assertEqual((e.exception.status, self.server.acts), (404, []))

    def test_following_ends_when_its_patience_does(self):
        clock = itertools.count(0, 10)
        self.server.acts = [1]  # 502 from then on
        rows = Client(self.url, "tbk_right", tries=1).session("s1").follow(patience=30)
        with unittest.mock.patch("time.sleep"), unittest.mock.patch("time.monotonic", lambda: next(clock)):
            self.assertEqual(next(rows)["seq"], 1)
            with self.assertRaisesRegex(OSError, "502"):
                next(rows)
        self.assertEqual(len(self.server.asked), 6)  # at 0, the cut, 10, 20, 30 and 40 s

    def test_errors_have_codes(self):
        for client, id, code in ((self.client, "s/7?", "not_found"), (Client(self.url, "tbk_wrong"), "s1", "unauthorized")):
            with self.assertRaises(APIError) as e:
                client.session(id).info()
            self.assertEqual(e.exception.code, code)
        self.assertIn("/api/v1/sessions/s%2F7%3F", self.server.asked)


if __name__ == "__main__":
    unittest.main()
