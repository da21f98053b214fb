"""Sessions about an environment of this package in the real server: its workers drive the environment, over pipes and over a socket."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

from test_server import BINARY, Server
from test_tiebreak import connect

HERE = pathlib.Path(__file__).parent
PYTHON = {"PYTHONPATH": str(HERE.parent), "PATH": os.environ["PATH"]}
PROGRAM = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from test_tiebreak import Walk

def make_env():
    return Walk(limit=40)

def features(observation, action, after, info):
    return {{"right": after[0] - observation[0], "effort": float(action @ action)}}

def happens(observation, action, after, info):
    return "goes to the left" if after[0] < observation[0] else "goes to the right"

SETTINGS = {{"features": features, "happenings": {{"goes to the left": True, "goes to the right": False}}, "clip_steps": 20}}
"""


@unittest.skipIf(BINARY is None and os.environ.get("CI") != "true", "TIEBREAK does not name the program")
class OutsideTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.script = self.folder / "walk.py"
        self.script.write_text(PROGRAM)

    def python(self, *arguments):
        return [sys.executable, "-m", "tiebreak", *map(str, arguments)]

    def answer(self, description):
        """Label twelve questions of a new session about the environment that is described."""
        path = self.folder / "walk.json"  # beside the program
        path.write_text(json.dumps(description))
        os.environ["TIEBREAK_OUTSIDE"] = str(path)
        self.addCleanup(os.environ.pop, "TIEBREAK_OUTSIDE")
        server = Server(str(self.folder / "data"))
        self.addCleanup(server.kill)
        said = self.run_program("session", "create", "--data", server.data, "--env", "outside-walk", "--title", "Walks")
        words = said.split()
        session, link = words[words.index("Session:") + 1], words[words.index("Annotator:") + 1]
        answered = self.run_program("simulate", "--url", server.url + link[link.index("/join/") :], "--answers", "12", "--seed", "1")
        self.assertIn("12", answered)
        exported = self.run_program("export", "--data", server.data, "--session", session, "--format", "jsonl").splitlines()
        self.assertEqual(len([json.loads(line) for line in exported]), 12)
        page = self.folder / "asked"  # questions differ in what happens, which the program says
        asked = self.run_program("questions", "--data", server.data, "--session", session, "--out", str(page))
        self.assertIn("(0 useless in the same way)", asked)
        self.assertIn("goes to the left", (page / "index.html").read_text())

    def run_program(self, *arguments):
        run = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=500)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def test_pipes(self):
        said = subprocess.run(self.python("describe", self.script), env=PYTHON, check=True, capture_output=True, text=True).stdout
        self.answer({**json.loads(said), "environment": PYTHON})

    def test_tcp(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        program = subprocess.Popen(self.python("serve", self.script, "--listen", f"tcp:127.0.0.1:{port}"), env=PYTHON, stdout=subprocess.DEVNULL)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        connect(port).close()
        self.answer({"connect": f"tcp:127.0.0.1:{port}"})


if __name__ == "__main__":
    unittest.main()
