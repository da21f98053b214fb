"""Tests of the client against the real server, which TIEBREAK names: go build -o DIR/tiebreak ./cmd/tiebreak."""

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import numpy as np

import tiebreak

BINARY = os.environ.get("TIEBREAK")
WEIGHTS = np.array([1.0, -0.5])  # of the person who answers


class Server:
    """A server on a data folder, which can be killed and started again at the same address."""

    def __init__(self, data):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{s.getsockname()[1]}"
        self.data, self.url = data, "http://" + self.address
        self.start()

    def start(self):
        self.process = subprocess.Popen([BINARY, "serve", "--data", self.data, "--addr", self.address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                with urllib.request.urlopen(self.url + "/readyz"):
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server does not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def token(self, scope, session=None, *more):
        command = [BINARY, "token", "new", "--data", self.data, "--scope", scope, *(["--session", session] if session else []), *more]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return said.split()[1]

    def client(self, scope, session=None, **settings):
        return tiebreak.Client(self.url, self.token(scope, session), **settings)


def trajectories(n, seed):
    """n clips of a point that moves on a line, of which every third is pictures."""
    random, out = np.random.default_rng(seed), []
    for k in range(n):
        speed = random.normal(size=6)
        place = np.concatenate([[0], np.cumsum(0.3 * speed)])
        t = {"observations": place, "actions": speed, "features": np.stack([speed, np.abs(place[1:])], axis=1), "name": f"run {k}"}
        if k % 3 == 0:
            pictures = np.zeros((7, 16, 64, 3), np.uint8)
            pictures[np.arange(7), 8, np.clip(32 + 8 * place, 0, 63).astype(int)] = 255
            t["frames"] = pictures
        else:
            t["scenes"] = [
                {"camera": {"x": 0, "y": 0, "w": 8, "h": 2}, "static": [], "moving": [{"kind": "circle", "paint": "agent", "size": 0.2, "points": [x, 0]}]}
                for x in place.tolist()
            ]
        out.append(t)
    return out


@unittest.skipIf(BINARY is None and os.environ.get("CI") != "true", "TIEBREAK does not name the program")
class ServerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = Server(folder.name)
        self.addCleanup(lambda: self.server.kill())
        self.trainer = self.server.client("upload")

    def make(self, **settings):
        """Makes a session with nine clips, and returns it, the sums of their features, and a session object of a program that answers."""
        clips = trajectories(9, seed=1)
        session = self.trainer.create("A point", ["Speed", "Distance"], prior_scale=tiebreak.prior_scale(clips), seed=5, **settings)
        ids = session.upload(clips)
        sums = {id: c["features"].sum(axis=0) for id, c in zip(ids, clips, strict=True)}
        return session, sums, self.server.client("label", session.id).session(session.id)

    def answer(self, person, sums, n, more=()):
        """Answers n questions by WEIGHTS, and returns what was sent last, with its receipt."""
        for k in range(n):
            claim = person.claim()
            question = claim["open"][0]
            a, b = (sums[c] @ WEIGHTS for c in question["clips"])
            said = {"id": f"answer-{len(more)}-{k}-{question['assignment']}", "assignment": question["assignment"], "choice": "a" if a > b else "b"}
            said |= {"shown_left": question["left"], "shown_at": "2026-11-20T12:00:00Z", "instructions_version": claim["instructions_version"]}
            receipt = person.answer(said)
        return said, receipt

    def test_every_method(self):
        session, sums, person = self.make(budget=40)
        self.assertEqual([s["id"] for s in self.trainer.sessions()], [session.id])
        info = session.info()
        self.assertEqual((info["environment"], info["features"], info["budget"], info["answers"]), ("rollouts", ["Speed", "Distance"], 40, 0))
        self.assertEqual(session.wait_for_answers(after=0, seconds=1), [])
        self.answer(person, sums, 30)
        rows = list(session.answers())
        self.assertEqual([r["seq"] for r in rows], list(range(1, 31)))
        self.assertEqual(session.wait_for_answers(after=29), rows[29:])
        asked = session.questions()
        self.assertEqual((asked["seq"], len(asked["asked"])), (30, 20))

        reward = session.reward_model()
        seq, mean, covariance = session.posterior()
        self.assertEqual((reward.seq, seq, covariance.shape), (30, 30, (2, 2)))
        features = np.random.default_rng(2).normal(size=(50, 2))
        by_server = session.reward(features)
        np.testing.assert_allclose(reward(features), by_server[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(reward.std(features), by_server[1], rtol=1e-9)
        cosine = mean @ WEIGHTS / np.linalg.norm(mean) / np.linalg.norm(WEIGHTS)
        self.assertGreater(cosine, 0.9)  # 30 answers about two weights

        policies = session.policies()
        best = max(sums, key=lambda c: sums[c] @ mean)
        self.assertEqual((policies["candidates"][0]["clip"], policies["recommended"]), (best, f"u{list(sums).index(best) + 1}"))
        scores = session.scores()
        self.assertEqual((scores["held_out"], scores["conditions"]), ({"questions": 0, "replies": 0}, []))
        clip = next(iter(sums))
        self.assertIn(session.clip(clip)[:4], (b"TBC1", b"TBF1"))
        self.assertEqual(session.export("csv").count(b"\n"), 31)
        self.assertEqual(len(session.export().splitlines()), 30)
        self.assertEqual(session.export("bundle")[:2], b"PK")
        self.assertEqual(session.export("practice") + session.export("flags"), b"")
        boss = self.server.client("write").session(session.id)
        self.assertEqual([boss.control(do) for do in ("pause", "resume", "close")], ["paused", "running", "closed"])
        self.assertEqual(person.claim()["done"], True)
        for refused, code in ((lambda: session.control("pause"), "forbidden"), (lambda: person.info(), "forbidden"), (lambda: session.upload(trajectories(1, 9)), "conflict")):
            with self.assertRaises(tiebreak.APIError) as e:
                refused()
            self.assertEqual(e.exception.code, code)
        for page in ("", "/quality"):  # the pages know such sessions, too: a stranger is sent to sign in, and nothing breaks
            with self.assertRaises(urllib.error.HTTPError) as e:
                urllib.request.urlopen(f"{self.server.url}/sessions/{session.id}{page}")
            self.assertIn(e.exception.code, (401, 403))

    def test_uploads_of_recordings(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"episode_index,policy\n0,steady\n")
            file.flush()
            self.assertEqual(self.trainer.upload_recordings("who", file.name, kind="table"), "uploaded/who/episodes.csv")
            with self.assertRaises(tiebreak.APIError) as e:
                self.trainer.upload_recordings("who", file.name, kind="table")
            self.assertEqual(e.exception.code, "conflict")
        (upload,) = self.trainer.recordings()["uploads"]
        self.assertEqual((upload["name"], upload["state"], upload["bytes"], upload["recordings"]), ("who", "there", 30, []))
        with self.assertRaises(tiebreak.APIError) as e:
            self.trainer.import_recordings("uploaded/who", "pick")
        self.assertEqual(e.exception.code, "invalid")
        self.trainer.discard_upload("who")
        self.assertEqual(self.trainer.recordings()["uploads"], [])

    def test_a_killed_server_loses_nothing(self):
        session, sums, person = self.make()
        heard, enough = [], threading.Event()

        def listen():
            for row in session.follow():
                heard.append(row)
                if len(heard) == 12:
                    return enough.set()

        threading.Thread(target=listen, daemon=True).start()
        said, receipt = self.answer(person, sums, 6)
        question = person.claim()["open"][0]
        posterior = session.posterior()
        self.server.kill()
        with self.assertRaises(OSError):
            person.answer(said)
        self.server.start()
        self.assertEqual(person.answer(said), receipt | {"replay": True})
        with self.assertRaises(tiebreak.APIError) as e:
            person.answer(said | {"choice": "equal"})
        self.assertEqual(e.exception.code, "conflict")
        self.assertEqual(person.claim()["open"][0]["clips"], question["clips"])
        for before, now in zip(posterior, session.posterior(), strict=True):
            np.testing.assert_array_equal(before, now)
        again = self.trainer._json(f"sessions/{session.id}/trajectories", {"trajectories": [tiebreak.client._trajectory(t) for t in trajectories(9, seed=1)]})
        self.assertEqual(([t["new"] for t in again["trajectories"]], again["total"]), ([False] * 9, 9))
        more = trajectories(4, seed=2)
        given = sums  # of the first nine clips
        both = session.upload(more[:2] + trajectories(9, seed=1))  # cut otherwise than before
        self.assertEqual(both[2:], list(given))
        sums |= dict(zip(session.upload(more), (t["features"].sum(axis=0) for t in more), strict=True))
        self.answer(person, sums, 6, more)
        self.assertTrue(enough.wait(30), heard)
        self.assertEqual([r["seq"] for r in heard], list(range(1, 13)))  # each once, across the crash

    def test_uploads_are_refused_whole(self):
        session, _, _ = self.make()
        good, bad = trajectories(2, seed=3)
        bad["features"] = bad["features"][:, :1]
        with self.assertRaises(tiebreak.APIError) as e:
            session.upload([good, bad])
        self.assertEqual((e.exception.status, e.exception.code), (400, "invalid"))
        self.assertIn("Trajectory 1: ", e.exception.message)
        self.assertEqual(len(session.policies()["candidates"]), 9)
        with self.assertRaises(ValueError):
            session.upload([good | {"reward": 1}])


if __name__ == "__main__":
    unittest.main()
