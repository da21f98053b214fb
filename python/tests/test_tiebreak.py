"""Unit tests of the package, with environments of their own: Gymnasium is not needed."""

import contextlib
import io
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import zlib

import numpy as np

from tiebreak import Adapter, SettingsError, encode_png
from tiebreak.__main__ import check, load
from tiebreak.server import converse, serve_socket

HERE = os.path.dirname(os.path.abspath(__file__))


def box(*shape, low=-1.0, high=1.0):
    return types.SimpleNamespace(low=np.full(shape, low), high=np.full(shape, high), shape=shape, dtype=np.dtype(np.float32))


class Walk:
    """A walk on a line with the interface of Gymnasium."""

    metadata = {"render_fps": 20}

    def __init__(self, actions=None, observations=None, limit=5):
        self.spec = types.SimpleNamespace(id="My Walk-v0", max_episode_steps=limit)
        self.action_space, self.observation_space = actions or box(1), observations or box(2)
        self.limit, self.closed = limit, False

    def reset(self, seed=None):
        self.random, self.steps = np.random.default_rng(seed), 0
        self.x = self.random.uniform()
        return self._seen(), {}

    def _seen(self):
        return np.array([self.x, self.steps]) if hasattr(self.observation_space, "low") else int(self.steps)

    def step(self, action):
        print("a step")  # must not reach the protocol
        self.action = action
        self.x += float(np.sum(action)) + 0.1 * self.random.normal()
        self.steps += 1
        return self._seen(), 1.0, abs(self.x) > 3, self.steps == self.limit, {"lucky": self.x > 0}

    def render(self):
        picture = np.full((12, 20, 3), 255, np.uint8)
        picture[:, int(10 + 3 * max(-3, min(3, self.x)))] = 0
        return picture

    def close(self):
        self.closed = True


def talk(requests, make_env=Walk, **settings):
    """Return the replies to requests, given as objects or as lines."""
    lines = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in requests)
    out = io.BytesIO()
    quiet, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), io.StringIO(), io.StringIO()
    try:
        converse(io.BytesIO(lines.encode()), out, make_env, settings)
    finally:
        sys.stdout, sys.stderr = quiet
    return [json.loads(line) for line in out.getvalue().splitlines()]


class TestProtocol(unittest.TestCase):
    def test_an_episode(self):
        steps = [{"id": 3 + k, "cmd": "step", "action": [0.5]} for k in range(5)]
        replies = talk([{"id": 1, "cmd": "hello", "protocol": 1}, {"id": 2, "cmd": "reset", "seed": 7}, *steps, {"id": 9, "cmd": "draw"}, {"id": 10, "cmd": "close"}])
        self.assertEqual([r["id"] for r in replies], [1, 2, 3, 4, 5, 6, 7, 9, 10])
        hello = replies[0]["result"]
        self.assertEqual(
            hello,
            {"protocol": 1, "name": "my-walk-v0", "version": "1", "observation": 2, "action": {"low": [-1.0], "high": [1.0]},
             "features": ["Observation 1", "Observation 2"], "horizon": 5, "step_seconds": 0.05, "draws": "picture"})
        x, stream = None, np.random.default_rng(7)
        x = stream.uniform()
        self.assertEqual(replies[1]["result"]["observation"], [x, 0])
        for k, r in enumerate(replies[2:7]):
            x += 0.5 + 0.1 * stream.normal()
            self.assertAlmostEqual(r["result"]["observation"][0], x)
            self.assertEqual(r["result"]["features"], r["result"]["observation"])
            self.assertEqual((r["result"]["terminated"], r["result"]["truncated"]), (x > 3, k == 4 and x <= 3))
            if x > 3:
                break
        self.assertEqual(replies[-1]["result"], {})

    def test_features_by_name(self):
        def features(before, action, after, info):
            return {"Moved": after[0] - before[0], "Lucky": info["lucky"]}

        replies = talk([{"id": 1, "cmd": "hello"}, {"id": 2, "cmd": "reset", "seed": 1}, {"id": 3, "cmd": "step", "action": [1]}], features=features)
        self.assertEqual(replies[0]["result"]["features"], ["Moved", "Lucky"])
        moved = replies[2]["result"]["observation"][0] - replies[1]["result"]["observation"][0]
        self.assertEqual(replies[2]["result"]["features"], [moved, 1.0])

    def test_discrete(self):
        def make():
            return Walk(actions=types.SimpleNamespace(n=np.int64(3), start=-1), observations=types.SimpleNamespace(n=6))

        replies = talk([{"id": 1, "cmd": "hello"}, {"id": 2, "cmd": "reset", "seed": 1}, {"id": 3, "cmd": "step", "action": 2}], make)
        self.assertEqual(replies[0]["result"]["action"], {"n": 3})
        self.assertEqual(replies[1]["result"]["observation"], [1, 0, 0, 0, 0, 0])
        self.assertEqual(replies[2]["result"]["observation"], [0, 1, 0, 0, 0, 0])

    def test_what_goes_wrong_is_told(self):
        reset = {"id": 1, "cmd": "reset", "seed": 1}
        for requests, settings, says in [
            (["nonsense"], {}, "Expecting value"),
            (["[1]"], {}, "object"),
            ([{"id": 1, "cmd": "dance"}], {}, "dance"),
            ([{"id": 1, "cmd": "step"}], {}, "needs action"),
            ([reset, {"id": 2, "cmd": "step", "action": [1, 2]}], {}, "1 numbers"),
            ([reset, {"id": 2, "cmd": "step", "action": [0]}], {"features": lambda *a: {"a": float("nan")}}, "Out of range"),
            ([reset, {"id": 2, "cmd": "step", "action": [0]}], {"features": lambda *a: [1]}, "dict"),
            ([reset, {"id": 2, "cmd": "save"}], {}, "saves no states"),
            ([reset, {"id": 2, "cmd": "draw"}], {"make_env": lambda: Blind()}, "rgb_array"),
            ([{"id": 1, "cmd": "hello"}], {"make_env": lambda: Walk(actions=box(1, high=np.inf))}, "action_low"),
            ([{"id": 1, "cmd": "hello"}], {"make_env": lambda: Walk(limit=None)}, "horizon"),
            ([{"id": 1, "cmd": "hello"}], {"make_env": lambda: Walk(observations=types.SimpleNamespace())}, "FlattenObservation"),
            ([{"id": 1, "cmd": "hello"}], {"save": lambda env: []}, "save and restore"),
            ([{"id": 1, "cmd": "hello"}], {"horizon": 9}, None),
        ]:
            settings = dict(settings)
            reply = talk(requests, settings.pop("make_env", Walk), **settings)[-1]
            if says is None:
                self.assertIn("result", reply)
            else:
                self.assertIn(says, reply["error"]["message"], requests)

    def test_an_episode_that_is_cut_short_is_told(self):
        replies = talk([{"id": 1, "cmd": "reset", "seed": 1}] + [{"id": 2, "cmd": "step", "action": [0]}] * 5, horizon=9)
        self.assertIn("horizon=5", replies[-1]["error"]["message"])

    def test_states(self):
        """A restored episode goes on as the one did in which the state was saved."""

        def step(k):
            return {"id": 10 + k, "cmd": "step", "action": [0.125]}

        reset, save = {"id": 2, "cmd": "reset", "seed": 1}, {"id": 9, "cmd": "save"}
        hello, *_, saved, on, last = talk([{"id": 1, "cmd": "hello"}, reset, step(0), step(1), step(2), save, step(3), step(4)], Calm, **CALM)
        state = saved["result"]["state"]
        self.assertEqual((hello["result"]["state"], len(state), state[:3]), (5, 5, [3.0, state[3], 3.0]))
        self.assertTrue(last["result"]["truncated"])
        again = talk([{"id": 2, "cmd": "reset", "seed": 2}, {"id": 3, "cmd": "restore", "state": state}, save, step(3), step(4)], Calm, **CALM)
        self.assertEqual(again[2:], [saved, on, last])
        earlier = talk([reset, {"id": 3, "cmd": "restore", "state": state[3:]}], Calm, **CALM)[-1]  # as version 0.1.0 saved it
        self.assertRegex(earlier["error"]["message"], "5 numbers here, not 2: .* earlier version")

    def test_states_of_discrete_observations(self):
        def make():
            return Calm(observations=types.SimpleNamespace(n=6, start=0))

        step, save = {"id": 3, "cmd": "step", "action": [0.5]}, {"id": 4, "cmd": "save"}
        settings = CALM | {"features": lambda before, action, after, info: {"From": before, "To": after}}
        replies = talk([{"id": 1, "cmd": "reset", "seed": 1}, step, step, save, step], make, **settings)
        state, on = replies[3]["result"]["state"], replies[4]
        self.assertEqual((state[:2], on["result"]["features"]), ([2.0, 2.0], [2.0, 3.0]))
        self.assertEqual(talk([{"id": 1, "cmd": "reset", "seed": 2}, {"id": 2, "cmd": "restore", "state": state}, step], make, **settings)[-1], on)

    def test_the_environment_is_closed(self):
        env = Walk()
        talk([{"id": 1, "cmd": "reset", "seed": 1}], lambda: env)
        self.assertTrue(env.closed, "at the end of the input")


class Calm(Walk):
    """A walk without chance, whose states can be saved. It counts its steps."""

    def step(self, action):
        self.x += float(np.sum(action))
        self.steps += 1
        return self._seen(), 1.0, False, self.steps == self.limit, {}


CALM = {
    "save": lambda env: [env.x, env.steps],
    "restore": lambda env, state: (setattr(env, "x", state[0]), setattr(env, "steps", int(state[1]))),
    "features": lambda before, action, after, info: {"Moved": after[0] - before[0], "Steps": after[1] - before[1]},
}


class Blind(Walk):
    def render(self):
        return None


class TestPNG(unittest.TestCase):
    def test_pixels(self):
        picture = np.random.default_rng(1).integers(0, 256, (5, 7, 4), np.uint8)
        png = encode_png(picture)
        self.assertEqual(struct.unpack(">II", png[16:24]), (7, 5))
        at, data = 8, b""
        while at < len(png):
            size, kind = struct.unpack(">I4s", png[at : at + 8])
            body = png[at + 8 : at + 8 + size]
            self.assertEqual(struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0], zlib.crc32(kind + body))
            data += body if kind == b"IDAT" else b""
            at += 12 + size
        rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(5, 22)
        self.assertTrue((rows[:, 0] == 0).all())
        self.assertTrue((rows[:, 1:].reshape(5, 7, 3) == picture[:, :, :3]).all())

    def test_refuses(self):
        for wrong in [np.zeros((5, 7)), np.zeros((5, 7, 3)), np.zeros((0, 7, 3), np.uint8), np.zeros((5, 7, 2), np.uint8)]:
            with self.assertRaises(ValueError):
                encode_png(wrong)


FILE = """
import sys
sys.path.insert(0, {here!r})
from test_tiebreak import CALM, Blind, Calm, Walk
print("hello from the file")
def make_env():
    return {make}
SETTINGS = {settings!r}
"""


def connect(place):
    """Connect as soon as somebody listens at a path or a port."""
    for _ in range(3000):
        client = socket.socket(socket.AF_INET if isinstance(place, int) else socket.AF_UNIX)
        try:
            client.connect(("127.0.0.1", place) if isinstance(place, int) else place)
            return client
        except OSError:
            client.close()
            time.sleep(0.01)
    raise TimeoutError(place)


class TestProgram(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, make="Walk()", more="", **settings):
        path = os.path.join(self.folder.name, "walk.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(FILE.format(here=HERE, make=make, settings=settings) + more)
        return path

    def check(self, path):
        """Return what check says is wrong with a file."""
        with contextlib.redirect_stdout(io.StringIO()):
            return check(path)

    def run_program(self, *args, lines=""):
        env = dict(os.environ, PYTHONPATH=os.path.dirname(HERE))
        return subprocess.run([sys.executable, "-m", "tiebreak", *args], input=lines, text=True, capture_output=True, env=env, timeout=120, check=False)

    def test_serve_keeps_prints_out_of_its_answers(self):
        lines = "".join(json.dumps(r) + "\n" for r in [{"id": 1, "cmd": "reset", "seed": 1}, {"id": 2, "cmd": "step", "action": [0]}])
        done = self.run_program("serve", self.write(), lines=lines)
        self.assertEqual([json.loads(line)["id"] for line in done.stdout.splitlines()], [1, 2])
        self.assertIn("a step", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_describe(self):
        done = self.run_program("describe", self.write(title="A walk"))
        self.assertEqual(json.loads(done.stdout), {"title": "A walk", "command": [sys.executable, "-m", "tiebreak", "serve", "walk.py"]})

    def test_check(self):
        self.assertEqual(self.check(self.write()), [])

    def test_check_of_states(self):
        self.assertEqual(self.check(self.write("Calm()", "SETTINGS = CALM")), [])
        for lost, says in (
            ("SETTINGS = CALM | {'restore': lambda env, state: None}", "another observation 1 steps later"),
            ("seen = []\nSETTINGS = CALM | {'features': lambda *a: seen.append(a) or {'Calls': len(seen)}}", "other features 1 steps later"),
        ):
            wrong = self.check(self.write("Calm()", lost))
            self.assertEqual(len(wrong), 8)
            self.assertIn(says, wrong[0])
        self.assertIn("random numbers", self.check(self.write("Walk()", "SETTINGS = CALM"))[0])

    def test_unknown_settings(self):
        with self.assertRaisesRegex(SettingsError, "reward"):
            load(self.write(reward=1))
        self.assertEqual(self.run_program("serve", self.write(reward=1)).returncode, 2)

    def test_socket(self):
        path = os.path.join(self.folder.name, "s")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        for address, place in (("unix:" + path, path), (f"tcp:{port}", port)):
            with self.subTest(address=address):
                threading.Thread(target=serve_socket, args=(address, Walk), daemon=True).start()
                clients = [connect(place) for _ in range(2)]  # at the same time, each with an environment of its own
                for client in clients:
                    self.addCleanup(client.close)
                talks = [client.makefile("rw") for client in clients]
                for seed, one in enumerate(talks):
                    one.write(json.dumps({"id": 1, "cmd": "reset", "seed": seed}) + "\n")
                    one.flush()
                seen = [json.loads(one.readline())["result"]["observation"][0] for one in talks]
                self.assertEqual(seen, [np.random.default_rng(s).uniform() for s in range(2)])
                for one in talks:
                    one.close()
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)


class TestAdapter(unittest.TestCase):
    def test_prior_scale_by_name(self):
        a = Adapter(Walk, features=lambda *_: {"b": 1.0, "a": 2.0}, prior_scale={"a": 3, "b": 4})
        self.assertEqual(a.hello()["prior_scale"], [4.0, 3.0])


if __name__ == "__main__":
    unittest.main()
