"""Tests of python/examples against the real server: a policy improves by the labels, and not by random ones."""

import contextlib
import importlib.util
import io
import os
import pathlib
import tempfile
import unittest

import numpy as np
from test_server import BINARY, Server


def example(name):
    path = pathlib.Path(__file__).parents[1] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@unittest.skipIf(BINARY is None and os.environ.get("CI") != "true", "TIEBREAK does not name the program")
class ExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = Server(folder.name)
        self.addCleanup(lambda: self.server.kill())

    def test_loop_numpy(self):
        loop, trainer = example("loop_numpy"), self.server.client("upload")

        def true_return(policy):
            return loop.play(np.repeat(policy[None], 200, 0), np.random.default_rng(99))[2].sum(axis=1).mean(axis=0) @ loop.WANTED

        def taught(seed, choose):
            session = trainer.create("Example", loop.FEATURES, prior_scale=[0.2, 0.2, 0.2], seed=seed)
            person = self.server.client("label", session.id).session(session.id)
            with contextlib.redirect_stdout(io.StringIO()):
                return true_return(loop.train(session, loop.program(person, choose), seed))

        lines = (pathlib.Path(__file__).parents[1] / "examples" / "loop_numpy.py").read_text().count("\n")
        self.assertLessEqual(lines, 100)
        before = true_return(np.zeros((2, 5)))
        best = true_return(loop.improve(np.zeros((2, 5)), lambda phi: phi @ loop.WANTED, np.random.default_rng(7), steps=200))
        coin = np.random.default_rng(5)
        by_labels = [taught(seed, lambda a, b: "a" if (a - b) @ loop.WANTED > 0 else "b") for seed in range(1, 5)]
        by_chance = [taught(seed, lambda a, b: "ab"[coin.integers(2)]) for seed in range(1, 9)]
        print(f"true return before {before:.1f}, by the true reward {best:.1f}, by labels {np.round(by_labels, 1)}, by random labels {np.round(by_chance, 1)}")
        learnt = before + 0.6 * (best - before)
        self.assertGreater(min(by_labels), learnt)
        # Random labels teach a reward of a random direction: half of those lead the right way, so that a mean says little.
        self.assertLessEqual(np.sum(np.array(by_chance) > learnt), 6)


if __name__ == "__main__":
    unittest.main()
