"""Tests of python/examples/sb3_cartpole.py against the real server and the real Stable-Baselines3, where that is installed (.ci/torch)."""

import contextlib
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
from test_server import BINARY, Server

SB3 = importlib.util.find_spec("stable_baselines3") is not None


@unittest.skipIf(BINARY is None or not SB3 and os.environ.get("TIEBREAK_TORCH") is None, "stable-baselines3 is not installed: sh .ci/torch sb3")
class StableBaselinesTest(unittest.TestCase):
    def test_cartpole(self):
        sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples"))
        import sb3_cartpole as example

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = Server(folder.name)
        self.addCleanup(lambda: server.kill())
        trainer = server.client("upload")

        def taught(seed, choose):
            session = trainer.create("CartPole", example.FEATURES, prior_scale=example.SCALE, seed=seed)
            person = server.client("label", session.id).session(session.id)
            with contextlib.redirect_stdout(io.StringIO()):
                return example.train(session, example.program(person, choose), seed)

        by_labels = [taught(seed, example.longer) for seed in (1, 2)]
        against = [taught(seed, lambda a, b: example.longer(b, a)) for seed in (1,)]
        print(f"true return before and after, by labels {np.round(by_labels, 1).tolist()}, by the opposite labels {np.round(against, 1).tolist()}")
        for before, after in by_labels:
            self.assertGreater(after, 3 * before)
        for before, after in against:
            self.assertLess(after, before)


if __name__ == "__main__":
    unittest.main()
