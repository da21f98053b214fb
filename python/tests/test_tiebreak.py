"""Unit tests of the package, with environments of their own: Gymnasium is not needed."""

import contextlib
import io
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import zlib

import numpy as np

from tiebreak import Adapter, SettingsError, adapter, encode_png, limits, view
from tiebreak.__main__ import check, first_clips, load, measure
from tiebreak.server import converse, serve_socket

HERE = os.path.dirname(os.path.abspath(__file__))


def box(*shape, low=-1.0, high=1.0):
    return types.SimpleNamespace(low=np.full(shape, low), high=np.full(shape, high), shape=shape, dtype=np.dtype(np.float32))


class Dot:
    """A dot that goes to the right on a wide picture of one colour, or over one with scenery."""

    def __init__(self, scenery=False, stays=False):
        self.spec = types.SimpleNamespace(id="Dot-v0", max_episode_steps=30)
        self.metadata = {"render_fps": 20}
        self.action_space, self.observation_space = box(1), box(1)
        self.scenery, self.stays = scenery, stays

    def reset(self, seed=None):
        self.x = 0
        return np.array([0.5]), {}

    def step(self, action):
        self.x += 0 if self.stays else 1
        return np.array([0.5]), 0.0, False, self.x == 30, {}

    def render(self):
        picture = np.full((80, 120, 3), (250, 250, 255), np.uint8)
        if self.scenery:
            picture[::79, ::119] = 0  # its corners
        picture[40:50, 20 + self.x : 30 + self.x] = (0, 90, 200)
        return picture

    def close(self):
        pass


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
        if not hasattr(self.observation_space, "low"):
            return int(self.steps)
        seen = np.zeros(self.observation_space.shape)
        seen.flat = [self.x, self.steps, *[0] * seen.size][: seen.size]
        return seen

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

    def test_what_happens(self):
        def happens(before, action, after, info):
            return "leaves the line" if abs(after[0]) > 3 else "goes on" if after[0] > before[0] else None

        names = {"happens": happens, "happenings": {"leaves the line": True, "goes on": False}}
        steps = [{"id": 3 + k, "cmd": "step", "action": [a]} for k, a in enumerate((0.9, -0.9, 1, 1, 1))]
        replies = talk([{"id": 1, "cmd": "hello"}, {"id": 2, "cmd": "reset", "seed": 7}, *steps], **names)
        self.assertEqual(replies[0]["result"]["happens"], [{"happens": "leaves the line", "useless": True}, {"happens": "goes on", "useless": False}])
        self.assertEqual([r["result"].get("happens") for r in replies[2:]], ["goes on", None, "goes on", "goes on", "leaves the line"])
        self.assertNotIn("happens", replies[1]["result"])
        replies = talk([{"id": 2, "cmd": "reset", "seed": 7}, steps[0]], **names | {"happenings": {"leaves the line": True}})
        self.assertRegex(replies[1]["error"]["message"], r"happens returned 'goes on', and happenings are \['leaves the line'\]: add it there")

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
            ([{"id": 1, "cmd": "hello"}], {"make_env": lambda: Walk(observations=types.SimpleNamespace())}, "ObservationWrapper"),
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

    def test_long_states(self):
        settings = CALM | {"save": lambda env: [env.x, env.steps] + [-1.2345678901234567e-100] * 65_531}
        reset, save = {"id": 1, "cmd": "reset", "seed": 1}, {"id": 2, "cmd": "save"}
        state = talk([reset, save], Calm, **settings)[1]["result"]["state"]
        self.assertEqual(len(state), 65_536)
        restored = talk([reset, save, {"id": 3, "cmd": "restore", "state": state}], Calm, **settings)
        self.assertEqual(restored[2:], [{"id": 3, "result": {}}])

    def test_a_line_without_an_end(self):
        endless = '{"id": 7, "cmd": "restore", "state": [' + "0," * (3 << 20)
        replies = talk([endless, {"id": 8, "cmd": "hello"}])
        self.assertEqual([(r["id"], r["error"]["message"]) for r in replies], [(7, "a request has more than 4194304 bytes in a line")])

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
from test_tiebreak import CALM, Blind, Calm, Dot, Walk
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

    def test_check_of_what_is_drawn(self):
        scene = {"camera": {"x": 0, "y": 0, "w": 4, "h": 2}, "static": [], "moving": [{"kind": "circle", "paint": "agent", "size": 0.1, "points": [0, 0]}]}
        self.assertEqual(self.check(self.write(more=f"SETTINGS = {{'scene': lambda env: {scene}}}")), [])
        for make, more, says in (
            ("Walk()", f"SETTINGS = {{'scene': lambda env: {scene | {'moving': [{'kind': 'disc'}]}}}}", "kind must be one of line, poly"),
            ("Walk()", f"SETTINGS = {{'scene': lambda env: {scene} | {{'moving': [{scene['moving'][0]}] * (1 + env.steps)}}}}", "as many figures"),
            ("Walk()", "import numpy\nSETTINGS = {'scene': lambda env: {'camera': numpy.zeros(3)}}", "tolist"),
            ("Blind()", "", "rgb_array"),
            ("Walk()", "Walk.render = lambda self: numpy.zeros((12, 7, 3), 'uint8')\nimport numpy", "7 x 12 pixels, and a side may have 8 to 4096"),
            ("Walk()", "Walk.render = lambda self: numpy.zeros((12, 10 + self.steps, 3), 'uint8')\nimport numpy", "the first had 10 x 12"),
            ("Walk()", "Walk.render = lambda self: numpy.zeros((12, 9, 3))\nimport numpy", "must be uint8"),
        ):
            with self.subTest(says), unittest.mock.patch.object(Walk, "render", Walk.render):
                self.assertRegex(" ".join(self.check(self.write(make, more))), says)

    def test_check_refuses_what_the_server_does(self):
        done = self.run_program("check", self.write("Walk(limit=20000)"))
        self.assertEqual((done.returncode, done.stdout.count("It can be served.")), (2, 0))
        self.assertRegex(done.stderr, "an episode has 20000 steps and may have 1 to 10000: give horizon")

    def test_check_proposes_a_view(self):
        for make, says in (("Dot()", True), ("Dot(scenery=True)", False), ("Walk()", False)):
            done = self.run_program("check", self.write(make))
            self.assertEqual((done.returncode, '"view": [16, 39, 48, 12]' in done.stdout, '"view"' in done.stdout), (0, says, says), done.stdout)

    def test_check_of_states(self):
        self.assertEqual(self.check(self.write("Calm()", "SETTINGS = CALM")), [])
        for lost, says in (
            ("SETTINGS = CALM | {'restore': lambda env, state: None}", "another observation 1 steps later"),
            ("seen = []\nSETTINGS = CALM | {'features': lambda *a: seen.append(a) or {'Calls': len(seen)}}", "other features 1 steps later"),
            ("seen = []\nSETTINGS = CALM | {'happens': lambda *a: seen.append(a) or str(len(seen) % 2), 'happenings': {'0': False, '1': True}}", "another name of what happens 1 steps later"),
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
        with socket.create_server(("127.0.0.1", 0)) as free:
            other = free.getsockname()[1]
        for address, place in (("unix:" + path, path), (f"tcp:{port}", port), (f"tcp:127.0.0.1:{other}", other)):
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


    def test_a_socket_file_that_is_left_behind_is_no_hindrance(self):
        path = os.path.join(self.folder.name, "s")
        command = [sys.executable, "-m", "tiebreak", "serve", self.write(), "--listen", "unix:" + path]
        env = dict(os.environ, PYTHONPATH=os.path.dirname(HERE))

        def start():
            program = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
            self.addCleanup(program.wait)
            self.addCleanup(program.kill)
            connect(path).close()
            return program

        first = start()
        second = self.run_program(*command[3:])
        self.assertEqual((second.returncode, second.stderr.count("\n")), (2, 1), second.stderr)
        self.assertIn("a program listens there already", second.stderr)
        first.kill()
        first.wait()
        self.assertTrue(os.path.exists(path))
        for number in (signal.SIGTERM, signal.SIGINT):
            if signal.getsignal(number) == signal.SIG_IGN:
                continue  # programs that a shell runs in the background inherit that
            program = start()
            program.send_signal(number)
            self.assertEqual(program.wait(), 128 + number)
            self.assertFalse(os.path.exists(path))

    def test_mistakes_of_the_command_line_are_one_line(self):
        path, folder = self.write(), self.folder.name
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            for args, says in (
                (["check", os.path.join(folder, "none.py")], "none.py: it cannot be read: No such file"), (["serve", folder], "cannot be read: Is a directory"), (["describe"], "required: file"),
                (["dance", path], "dance"), (["serve", path, "--listen", "here"], "unix:PATH, tcp:PORT or tcp:127.0.0.1:PORT"), (["serve", path, "--listen", "tcp:0.0.0.0:5000"], "unix:PATH"),
                (["serve", path, "--listen", "tcp:70000"], "unix:PATH"), (["serve", path, "--listen", f"tcp:{port}"], f"cannot listen at tcp:{port}: Address already in use"),
                (["serve", path, "--listen", "unix:" + path], "no socket"), (["serve", path, "--listen", f"unix:{folder}/none/s"], "No such file"), (["serve", path, "--listen", "unix:" + "s" * 200], "too long"),
            ):
                done = self.run_program(*args)
                with self.subTest(says):
                    self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                    self.assertIn(says, done.stderr)
        self.assertTrue(os.path.isfile(path))


def space(name, **attributes):
    """A space of Gymnasium, by its name and the attributes that it has there."""
    return type(name, (), attributes)()


class TestAdapter(unittest.TestCase):
    def test_spaces_are_not_taken_for_others(self):
        binary = space("MultiBinary", n=4, shape=(4,), dtype=np.dtype(np.int8))
        several = space("MultiDiscrete", nvec=np.array([2, 3]), shape=(2,), dtype=np.dtype(np.int64))
        for spaces, says in (
            ({"actions": binary}, "actions of MultiBinary"), ({"actions": several}, "actions of MultiDiscrete"),
            ({"observations": space("Graph")}, "observations of Graph .*ObservationWrapper"),
        ):
            with self.assertRaisesRegex(SettingsError, says):
                Adapter(lambda: Walk(**spaces))

    def test_observations_of_several_parts(self):
        binary = space("MultiBinary", n=2, shape=(2,), dtype=np.dtype(np.int8))
        several = space("MultiDiscrete", nvec=np.array([2, 3]), shape=(2,), dtype=np.dtype(np.int64))
        mission = space("MissionSpace", shape=None)
        image = box(2, 3)
        both = space("Dict", spaces={"direction": types.SimpleNamespace(n=4), "image": image, "mission": mission})
        seen = {"direction": 2, "image": np.arange(6.0).reshape(2, 3), "mission": "go"}
        for known, observation, numbers in (
            (binary, np.array([1, 0]), [1, 0]), (several, np.array([1, 2]), [0, 1, 0, 0, 1]), (both, seen, [0, 0, 1, 0, 0, 1, 2, 3, 4, 5]),
            (space("Tuple", spaces=(types.SimpleNamespace(n=2), image)), (1, seen["image"]), [0, 1, 0, 1, 2, 3, 4, 5]),
        ):
            observe = adapter._observations(known)
            self.assertEqual(observe(observation), numbers)
            self.assertEqual(observe.size, len(numbers))
            back = observe.back(np.array(observe.keep(observation)), observation)
            self.assertEqual(observe(back), numbers)
        self.assertEqual(back[0], 1)

    def test_default_features_of_long_observations(self):
        world = Adapter(lambda: Walk(observations=types.SimpleNamespace(n=500), actions=types.SimpleNamespace(n=3)))
        self.assertEqual(world.hello()["features"], ["Action 1 of 3", "Action 2 of 3", "Action 3 of 3", "Reached an end"])
        world.reset(1)
        self.assertEqual(world.step(1)["features"][:3], [0, 1, 0])

    def test_the_cost_of_a_step_is_measured(self):
        class Slow(Walk):
            def step(self, action):
                until = time.process_time() + 0.05
                while time.process_time() < until:
                    pass
                return super().step(action)

        with contextlib.redirect_stdout(io.StringIO()):
            cost = measure(Adapter(lambda: Slow(limit=10_000)))
        self.assertGreaterEqual(cost, 0.05)
        self.assertIn("a minute", first_clips(0.2, 20))
        self.assertIn("27 minutes", first_clips(1.0, 200))

    def test_hello_keeps_the_limits_of_the_server(self):
        def named(n):
            return lambda *_: {f"f{k}": 0.0 for k in range(n)}

        def falls(*_):
            return "falls"

        stateful = {"restore": lambda env, state: None}
        for make, settings, says in (
            ({"observations": box(64, 65)}, {"features": named(1)}, "4160 numbers and may have 1 to 4096: .* fewer"),
            ({"observations": box(0)}, {"features": named(1)}, "0 numbers and may have 1 to 4096: .* more"),
            ({"observations": box(65)}, {}, "65 features and there may be 1 to 64: give features"),
            ({}, {"features": named(0)}, "0 features"),
            ({}, {"features": lambda *_: {"a" * 65: 0}}, "the name of feature 0, 'a"), ({}, {"features": lambda *_: {"": 0}}, "the name of feature 0, ''"),
            ({}, {"features": lambda *_: {"a": 0, "b\nc": 0}}, "the name of feature 1"), ({}, {"features": lambda *_: {7: 0}}, "the name of feature 0, 7"),
            ({"limit": 10_001}, {}, "10001 steps and may have 1 to 10000: give horizon"), ({}, {"horizon": 0}, "0 steps"), ({}, {"horizon": 2.5}, "horizon must be a whole number"),
            ({"actions": types.SimpleNamespace(n=65)}, {}, "65 discrete actions and there may be 2 to 64: .* fewer"), ({"actions": types.SimpleNamespace(n=1)}, {}, "1 discrete actions .* more"),
            ({"actions": box(65)}, {}, "an action has 65 numbers and may have 1 to 64"), ({"actions": box(0)}, {}, "an action has 0 numbers"),
            ({"actions": box(2, low=1.0)}, {}, "number 0 of an action lies between 1.0 and 1.0: give action_low and action_high"),
            ({}, {"action_low": -1e39}, "number 0 of an action lies between -1e"), ({}, {"action_low": [0, 0]}, "action_low must be a number"),
            ({}, {"name": "My walk"}, "give name"), ({}, {"name": "w" * 41}, "give name"), ({}, {"version": "1 2"}, "give version"), ({}, {"version": "v" * 33}, "give version"),
            ({}, {"title": "t" * 81}, "title must be a line of at most 80"), ({}, {"description": "t" * 401}, "description .* 400"), ({}, {"moment": "a\tb"}, "moment .* 80"), ({}, {"title": 5}, "title"),
            ({}, {"step_seconds": 0}, "step_seconds"), ({}, {"step_seconds": 4000}, "step_seconds"), ({}, {"step_seconds": float("nan")}, "step_seconds"), ({}, {"step_seconds": "slow"}, "step_seconds must be a number"),
            ({}, {"discount": 0}, "discount"), ({}, {"discount": 1.1}, "discount"), ({}, {"clip_steps": 6}, "clip_steps must be 1 to 5"), ({}, {"clip_steps": 0}, "clip_steps"),
            ({}, {"playback": 0}, "playback"), ({}, {"playback": 1001}, "playback"), ({}, {"end_seconds": 11}, "end_seconds"), ({}, {"end_seconds": -1}, "end_seconds"),
            ({}, {"prior_scale": [1]}, "1 numbers for 2 features"), ({}, {"prior_scale": [1, 0]}, "prior_scale"), ({}, {"prior_scale": [1, float("inf")]}, "prior_scale"),
            ({}, {"prior_scale": {"Observation 1": 1}}, "prior_scale is of"),
            ({}, {"happenings": {"falls": True}}, "give both happens"), ({}, {"happens": falls}, "give both happens"), ({}, {"happens": falls, "happenings": ["falls"]}, "dict of 1 to 32 names"),
            ({}, {"happens": falls, "happenings": {}}, "dict of 1 to 32 names"), ({}, {"happens": falls, "happenings": {f"{k}": True for k in range(33)}}, "dict of 1 to 32 names"),
            ({}, {"happens": falls, "happenings": {"é" * 31: True}}, "1 to 60 bytes"), ({}, {"happens": falls, "happenings": {"": True}}, "1 to 60 bytes"),
            ({}, {"happens": falls, "happenings": {"a\nb": True}}, "1 to 60 bytes"), ({}, {"happens": falls, "happenings": {"falls": 1}}, "must be True if it is useless"),
            ({}, stateful | {"save": lambda env: np.zeros(65_534)}, "65537 numbers"),
        ):
            with self.subTest(says, settings=str(settings)[:60]), self.assertRaisesRegex(SettingsError, says):
                Adapter(lambda: Walk(**make), **settings).hello()
        for make, settings in (
            ({"observations": box(64, 64)}, {"features": named(64)}), ({"limit": 10_000, "actions": types.SimpleNamespace(n=64)}, {"clip_steps": np.int64(10_000)}), ({"actions": box(64)}, {}),
            ({}, {"name": "w" * 40, "version": "v" * 32, "title": "t" * 80, "description": "é" * 400, "moment": "t" * 80, "discount": 1, "playback": np.float32(1000), "end_seconds": 0}),
            ({}, stateful | {"save": lambda env: np.zeros(65_533)}), ({}, {"happens": falls, "happenings": {"falls": True} | {"é" * 30: False} | {f"{k}": False for k in range(30)}}),
        ):
            json.dumps(Adapter(lambda: Walk(**make), **settings).hello(), allow_nan=False)

    def test_limits_are_those_of_the_server(self):
        go = os.path.join(HERE, "../../internal")
        for path, pairs in (
            ("data/foreign/limits.go", {"MaxObservation": limits.MAX_OBSERVATION, "MaxAction": limits.MAX_ACTION, "MaxFeatures": limits.MAX_FEATURES, "MaxSteps": limits.MAX_STEPS,
                "MaxTitle": limits.MAX_TITLE, "MaxAbout": limits.MAX_ABOUT, "MaxFeature": limits.MAX_FEATURE,
                "maxShapes": limits.MAX_SHAPES, "maxPoints": limits.MAX_POINTS, "maxLabel": limits.MAX_LABEL}),
            ("data/outside/hello.go", {"maxState": limits.MAX_STATE, "maxHappenings": limits.MAX_HAPPENINGS}),
            ("base/drawing/env.go", {"MaxHappening": limits.MAX_HAPPENING}),
            ("look/clip/footage.go", {"minPictureSide": limits.MIN_SIDE, "maxGivenSide": limits.MAX_SIDE, "maxGivenBytes": limits.MAX_PICTURE}),
        ):
            with open(os.path.join(go, path), encoding="utf-8") as f:
                found = dict(re.findall(r"^(?:\t|const )(\w+) += ([\d_ <]+)", f.read(), re.M))
            self.assertEqual({k: eval(found[k]) for k in pairs}, pairs)

    def test_scenes(self):
        flat, solid = {"w": 4, "h": 2}, {"w": 4, "h": 2, "distance": 9, "z": 1}
        dot = {"kind": "circle", "paint": "agent", "size": 0.1, "points": [0, 0]}
        ball, floor = {"kind": "ball", "paint": "object9", "size": 1, "points": [0, 0, 0]}, {"kind": "checker", "paint": "surface", "size": 1, "points": [0, 0, 0]}
        name = {"kind": "text", "paint": "ink", "size": 1, "points": [0, 0], "text": "A"}
        fine = {"camera": flat, "static": [name], "moving": [dot | {"trail": True}]}
        for scene in (fine, {"camera": solid, "static": [floor], "moving": [ball]}, {"camera": flat}, {"camera": flat, "moving": [{"kind": "poly", "paint": "wall", "points": [0, 0] * 10_000}]}):
            limits.check_scene(scene)
        limits.check_scene({"camera": flat | {"x": 5}, "static": [name], "moving": [dot | {"trail": True, "points": [1, 1]}]}, fine)
        for scene, first, says in (
            (None, None, "must be a dict"), (fine | {"colour": 1}, None, "no 'colour'"), (fine | {"camera": {}}, None, "sees nothing"), (fine | {"camera": flat | {"w": "4"}}, None, "numbers"),
            (fine | {"camera": flat | {"z": 1}}, None, "flat scene"), (fine | {"camera": solid | {"elevation": 1.6}}, None, "sees nothing"), (fine | {"moving": dot}, None, "list of figures"),
            (fine | {"moving": [dot] * 2001}, None, "2002 figures and may have 2000"), (fine | {"moving": [{"kind": "poly", "paint": "wall", "points": [0, 0] * 10_001}]}, None, "may have 10000"),
            (fine | {"moving": [dot | {"paint": "red"}]}, None, "figure 1 of a scene, 'circle': paint is 'red'"), (fine | {"moving": [dot | {"points": [0]}]}, None, "0.5 points of 2"),
            (fine | {"moving": [dot | {"points": [0, "1"]}]}, None, "list of numbers"), (fine | {"moving": [dot | {"points": [0, 1e39]}]}, None, "3.4e38"), (fine | {"moving": [dot | {"size": 0}]}, None, "size"),
            (fine | {"moving": [ball]}, None, "solid"), (fine | {"static": [dot | {"trail": True}]}, None, "trail"), ({"camera": solid, "moving": [floor]}, None, "in static"),
            (fine | {"static": [name | {"text": ""}]}, None, "1 to 64"), (fine | {"static": [name | {"text": "a" * 65}]}, None, "1 to 64"), (fine | {"static": [dot | {"text": "a"}]}, None, "only a text"),
            (fine | {"camera": flat | {"w": 5}}, fine, "x, y and z only"), (fine | {"static": [name | {"points": [1, 1]}]}, fine, "static changed"), (fine | {"moving": [dot]}, fine, "points only"),
        ):
            with self.subTest(says), self.assertRaisesRegex(SettingsError, says):
                limits.check_scene(scene, first)

    def test_view_of_what_there_is_to_see(self):
        for settings, want in (({}, [16, 39, 48, 12]), ({"stays": True}, [19, 39, 12, 12]), ({"scenery": True}, None)):
            with self.subTest(settings):
                found = view.propose(Adapter(lambda: Dot(**settings), features=lambda *_: {"a": 0.0}))
                self.assertEqual(found, want)
        empty = Adapter(Dot, features=lambda *_: {"a": 0.0})
        empty.env.render = lambda: np.zeros((80, 120, 3), np.uint8)
        self.assertIsNone(view.propose(empty))

    def test_prior_scale_by_name(self):
        a = Adapter(Walk, features=lambda *_: {"b": 1.0, "a": 2.0}, prior_scale={"a": 3, "b": 4})
        self.assertEqual(a.hello()["prior_scale"], [4.0, 3.0])


if __name__ == "__main__":
    unittest.main()
