"""Tests with the real LeRobot: data sets are written by it, labelled, and loaded with the labels, where it is installed (.ci/torch)."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

import numpy as np
from test_server import BINARY, Server

EXAMPLES = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "lerobot"
sys.path.insert(0, str(EXAMPLES))
import make as pen  # noqa: E402

LEROBOT = importlib.util.find_spec("lerobot") is not None
CLIP = 50  # steps, of 5 seconds: three episodes are longer
SEEN = 224, 96  # size of the pictures of both cameras side by side


def run(*args):
    """Runs the program and returns what it writes."""
    done = subprocess.run([BINARY, *args], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"tiebreak {' '.join(args)}: {done.stderr}")
    return done.stdout


@contextlib.contextmanager
def quiet():
    """Has encoders, which write to the standard error of the process, write nothing."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


@unittest.skipIf(BINARY is None or not LEROBOT and os.environ.get("TIEBREAK_TORCH") is None, "lerobot is not installed: sh .ci/torch lerobot")
class LeRobotTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=str(self.folder / "hub"))  # read when lerobot is imported

    def load(self, root, **settings):
        from lerobot.datasets.lerobot_dataset import LeRobotDataset

        return LeRobotDataset("tiebreak/pen", root=root, **settings)

    def bring(self, root, data, name):
        """Has the program take in a data set as the environment rollouts-NAME."""
        columns = ["--policy-column", "policy", "--start-column", "seed", "--success-column", "next.success"]
        said = run("import", "--lerobot", str(root), "--name", name, "--data", data, "--clip-seconds", "5", *columns)
        self.assertIn(f"Rollouts:    {pen.EPISODES}\nSuccesses:   {pen.EPISODES // 2} of {pen.EPISODES}\nPolicies:    2\n", said)

    def say(self, server, session, choices):
        """Answers questions as a program, by a choice, by fields of the answer, or by what a function of the bytes of both clips returns.

        Returns what was said, by the ids of the answers.
        """
        person, said = server.client("label", session).session(session), {}
        for k, choice in enumerate(choices):
            claim = person.claim()
            while not claim["open"]:  # clips are being made
                time.sleep(0.2)
                claim = person.claim()
            question = claim["open"][0]
            if callable(choice):
                choice = choice(*map(server.client("read").session(session).clip, question["clips"]))
            answer = {"id": f"answer-{k}-{question['assignment']}", "assignment": question["assignment"]}
            answer |= choice if isinstance(choice, dict) else {"choice": choice, "shown_left": question["left"]}
            answer |= {"shown_at": "2026-11-20T12:00:00Z", "instructions_version": claim["instructions_version"]}
            person.answer(answer | ({"reason": "other"} if choice == "skip" else {}))
            said[answer["id"]] = choice
        return said

    def label(self, server, data):
        """Makes a session, answers in it, and returns its id and what was said, by the ids of the answers."""
        words = run("session", "create", "--data", data, "--env", "rollouts-pen", "--title", "Pens", "--seed", "1").split()
        session, link = words[1], words[3]
        token = link.rsplit("/", 1)[1]
        run("simulate", "--url", f"{server.url}/join/{token}", "--answers", "40", "--seed", "3", "--data", data)
        return session, self.say(server, session, ["a", "b", "equal", "cant_tell", "skip", "a", "b"])

    def check_arena(self, server, data):
        """In an arena of the recorded policies each episode has the strength of its policy, and the better one is good."""
        import pandas as pd

        arena = run("arena", "new", "--data", data, "--entrants", "rollouts-pen", "--seed", "1").split()[1]
        said = self.say(server, arena, "aabab")
        labels = self.folder / "arena"
        run("export", "--data", data, "--session", arena, "--format", "lerobot", "--out", str(labels))
        strengths = {e["title"]: e["strength"] for e in json.loads(run("arena", "show", arena, "--data", data, "--json"))["entrants"]}
        best = max(strengths, key=strengths.get)
        preferences, episodes = (pd.read_parquet(labels / f"{name}.parquet") for name in ("preferences", "episodes"))
        self.assertEqual(dict(zip(preferences.label_id, preferences.choice, strict=True)), said)
        for r in preferences.itertuples():  # two policies, one task, one seed
            (policy, *start), (other, *same) = (pen.plan(e)[:3] for e in (r.episode_index_a, r.episode_index_b))
            self.assertEqual((policy != other, start), (True, same))
        for e in episodes.itertuples():
            self.assertEqual((e.policy, e.score, e.good), (pen.plan(e.episode_index)[0], strengths[e.policy], e.policy == best))

    def check_verdicts(self, server, data):
        """Verdicts about the ends of episodes stand beside the successes that the data set knows."""
        import pandas as pd

        judged = run("session", "create", "--data", data, "--env", "rollouts-pen", "--kind", "clip_success", "--acquisition", "uniform", "--seed", "1").split()[1]
        failure, success = {"choice": "rated", "rating": -1, "wrong_ms": 1500}, {"choice": "rated", "rating": 1}
        self.say(server, judged, [failure, success, failure, success])
        labels = self.folder / "verdicts"
        run("export", "--data", data, "--session", judged, "--format", "lerobot", "--out", str(labels))
        episodes = pd.read_parquet(labels / "episodes.parquet")
        self.assertEqual(episodes.verdicts.sum(), 4)
        self.assertEqual(set(episodes.verdict.dropna()), {"failure", "success"})
        for e in episodes.itertuples():
            policy, _, _, frames = pen.plan(e.episode_index)
            self.assertEqual((e.success, pd.isna(e.verdict)), (policy == "steady", e.verdicts == 0))
            wrong = max(0, frames - 1 - CLIP) + 15 if e.verdict == "failure" else None  # 1.5 s of 10 frames after the clip began
            self.assertEqual(None if pd.isna(e.wrong_frame) else e.wrong_frame, wrong)
        return labels, episodes

    def check_frames(self, dataset, episodes):
        """Each frame of each camera shows the number of its episode and its own."""
        self.assertEqual(dataset.num_episodes, len(episodes))
        found = []
        for i in range(len(dataset)):
            frame = dataset[i]
            place = (int(frame["episode_index"]), int(frame["frame_index"]))
            for camera in pen.CAMERAS:
                self.assertEqual(pen.read_bars(frame[camera].permute(1, 2, 0).numpy()), place)
            found.append(place)
        self.assertEqual(found, [(e, f) for e in episodes for f in range(pen.plan(e)[3])])

    def check_labels(self, labels, said, session):
        """Compares the tables with what was said and with the plan of the data set."""
        import pandas as pd

        preferences, episodes = (pd.read_parquet(labels / f"{name}.parquet") for name in ("preferences", "episodes"))
        mine = preferences[preferences.label_id.isin(said)].set_index("label_id")
        self.assertEqual(mine.choice.to_dict(), {id: choice for id, choice in said.items() if choice != "skip"})
        self.assertEqual(len(preferences), 40 + len(said) - 1)
        self.assertEqual(set(preferences.session_id), {session})
        lengths = {e: pen.plan(e)[3] for e in range(pen.EPISODES)}
        for r in preferences.itertuples():
            for episode, start, steps in ((r.episode_index_a, r.start_frame_a, r.n_steps_a), (r.episode_index_b, r.start_frame_b, r.n_steps_b)):
                self.assertEqual(steps, min(CLIP, lengths[episode] - 1))
                self.assertLess(start + steps, lengths[episode])
            prefers = {"a": (r.episode_index_a, r.episode_index_b), "b": (r.episode_index_b, r.episode_index_a)}.get(r.choice)
            self.assertEqual(None if pd.isna(r.chosen_episode_index) else (r.chosen_episode_index, r.rejected_episode_index), prefers)
        decisive = preferences[preferences.chosen_episode_index.notna()]
        lines = [json.loads(line) for line in (labels / "preferences.jsonl").read_text().splitlines()]
        self.assertEqual([line["label_id"] for line in lines], decisive.label_id.tolist())
        self.assertEqual([line["chosen_clip"]["episode_index"] for line in lines], decisive.chosen_episode_index.tolist())

        for e in episodes.itertuples():
            policy, task, seed, frames = pen.plan(e.episode_index)
            self.assertEqual((e.policy, e.task, e.start, e.n_steps), (policy, pen.TASKS[task], str(seed), frames - 1))
            about = preferences[(preferences.episode_index_a == e.episode_index) | (preferences.episode_index_b == e.episode_index)]
            self.assertEqual((e.wins, e.losses), ((decisive.chosen_episode_index == e.episode_index).sum(), (decisive.rejected_episode_index == e.episode_index).sum()))
            self.assertEqual((e.ties, e.n_answers), ((about.choice == "equal").sum(), len(about)))
        good = json.loads((labels / "good_episodes.json").read_text())
        self.assertEqual(good, episodes.episode_index[episodes.good].tolist())
        for _, of in episodes.groupby("task"):
            self.assertEqual(of.good.sum(), 2)
            self.assertGreater(of.score[of.good].min(), of.score[~of.good].max())
        return episodes, good

    def check_seen(self, session, data, labels):
        """The clips that people saw show the frames that the labels name."""
        import pandas as pd
        from PIL import Image

        bundle = self.folder / "bundle"
        run("export", "--data", data, "--session", session, "--format", "bundle", "--clips", "gif", "--out", str(bundle))
        segments = pd.read_parquet(bundle / "labels.parquet").set_index("label_id")
        seen = 0
        for r in pd.read_parquet(labels / "preferences.parquet").itertuples():
            for side, episode, start, steps in (("a", r.episode_index_a, r.start_frame_a, r.n_steps_a), ("b", r.episode_index_b, r.start_frame_b, r.n_steps_b)):
                with Image.open(bundle / "clips" / f"{segments.at[r.label_id, f'segment_{side}']}.gif") as film:
                    for picture, frame in ((0, start), (film.n_frames - 1, start + steps)):
                        film.seek(picture)
                        both = np.asarray(film.convert("RGB").resize(SEEN))
                        for camera in (both[:, :96], both[:, 96:]):
                            self.assertEqual(pen.read_bars(camera), (episode, frame))
                        seen += 1
        self.assertGreater(seen, 100)

    def check_columns(self, labels, episodes, root, what="labels"):
        """Adds columns to a copy, which the real package loads; the original is as it was."""
        before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
        new = self.folder / f"{root.name}-with-{what}"
        add = [sys.executable, str(EXAMPLES / "add_columns.py"), str(labels), str(root), str(new), "--link"]
        subprocess.run(add, check=True, capture_output=True)
        self.assertEqual({p: p.read_bytes() for p in root.rglob("*") if p.is_file()}, before)
        self.assertNotEqual(subprocess.run(add, check=False, capture_output=True).returncode, 0)
        dataset = self.load(new, episodes=[0, 1])
        for name in ("score", "score_std", "wins", "losses", "ties", "n_answers", "good", "success", "verdict", "verdicts", "wrong_frame"):
            known = [None if missing else value for value, missing in zip(episodes[name].tolist(), episodes[name].isna(), strict=True)]
            self.assertEqual(dataset.meta.episodes[f"tiebreak/{name}"], known)
        self.check_frames(dataset, [0, 1])

    def test_labels(self):
        made = {}
        for codec, files in (("h264", "small"), ("libsvtav1", "large")):
            made[codec] = self.folder / codec
            with quiet():
                pen.make(made[codec], codec, files=files)
        data = str(self.folder / "data")
        self.bring(made["libsvtav1"], data, "pen-av1")
        self.bring(made["h264"], data, "pen")
        server = Server(data)
        self.addCleanup(lambda: server.kill())
        session, said = self.label(server, data)

        labels = self.folder / "labels"
        run("export", "--data", data, "--session", session, "--format", "lerobot", "--out", str(labels))
        archive = zipfile.ZipFile(io.BytesIO(server.client("read").session(session).export("lerobot")))
        for path in labels.iterdir():  # the same bytes twice, and by the HTTP API
            self.assertEqual(archive.read(f"tiebreak-{session}-labels/{path.name}"), path.read_bytes())
        episodes, good = self.check_labels(labels, said, session)
        self.check_seen(session, data, labels)
        self.check_arena(server, data)
        self.check_columns(*self.check_verdicts(server, data), made["h264"], "verdicts")
        for codec, root in made.items():
            with self.subTest(codec):
                self.check_frames(self.load(root, episodes=good), good)
                self.check_columns(labels, episodes, root)

    def check_near(self, numbers, states, of):
        """Frames that look alike have numbers that are near, and the numbers tell where the pen is and who moves it."""
        near = np.linalg.norm(numbers[1:] - numbers[:-1], axis=1)[of[1:] == of[:-1]]
        far = np.linalg.norm(numbers[np.random.default_rng(0).permutation(len(numbers))] - numbers, axis=1)
        self.assertLess(np.median(near), 0.6 * np.median(far))
        with_one, told = np.c_[numbers, np.ones(len(numbers))], []
        for fitted in (of < 6, of >= 6):  # the other seed, in turn
            error = states[~fitted] - with_one[~fitted] @ np.linalg.lstsq(with_one[fitted], states[fitted], rcond=None)[0]
            told.append(1 - (error**2).sum(axis=0) / ((states[~fitted] - states[~fitted].mean(axis=0)) ** 2).sum(axis=0))
        # Of the four episodes of a task, that whose end is nearest to the end of one is of the same policy: by chance 4 of 12.
        ends = np.array([numbers[of == e][-5:].mean(axis=0) for e in range(pen.EPISODES)])
        same = 0
        for e in range(pen.EPISODES):
            others = [o for o in range(pen.EPISODES) if o != e and pen.plan(o)[1] == pen.plan(e)[1]]
            same += pen.plan(min(others, key=lambda o: np.linalg.norm(ends[o] - ends[e])))[0] == pen.plan(e)[0]
        print(f"features: neighbours {np.median(near) / np.median(far):.2f} as far as others, R² of place {told}, same policy {same} of 12")
        self.assertGreater(np.mean(told), 0.6)
        self.assertGreaterEqual(same, 9)

    def test_features(self):
        """What a network sees, as numbers of frames, is enough to learn which episodes a person prefers who looks at the videos."""
        import pandas as pd

        root, new = self.folder / "plain", self.folder / "seen"
        with quiet():
            pen.make(root, "h264", bars=False)
        before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
        add = [sys.executable, str(EXAMPLES / "add_features.py"), str(root), str(new), "--cameras", "front", "--link"]
        self.assertIn("8 numbers of each of 512 frames", subprocess.run(add, check=True, capture_output=True, text=True).stdout)
        self.assertEqual({p: p.read_bytes() for p in root.rglob("*") if p.is_file()}, before)
        self.assertIn("name a new one", subprocess.run(add, check=False, capture_output=True, text=True).stderr)
        dataset = self.load(new)
        numbers, of = (np.array(dataset.hf_dataset.with_format("numpy")[name]) for name in ("vision", "episode_index"))
        np.testing.assert_allclose([numbers.mean(axis=0), numbers.std(axis=0)], [np.zeros(8), np.ones(8)], atol=1e-4)
        self.assertEqual(tuple(dataset[0]["vision"].shape), (8,))
        states = np.concatenate([pen.motion(e)[0] for e in range(pen.EPISODES)])
        self.check_near(numbers, states, of)

        data = str(self.folder / "data")
        said = run("import", "--lerobot", str(new), "--name", "seen", "--data", data, "--clip-seconds", "2", "--feature-column", "vision")
        self.assertIn("Features:    8 numbers of the column vision, as seen by front\n", said)
        server = Server(data)
        self.addCleanup(lambda: server.kill())
        settings = ["--acquisition", "igr", "--adopt-after", "1", "--seed", "1"]  # each question after the training of the answer before
        session = run("session", "create", "--data", data, "--env", "rollouts-seen", *settings).split()[1]
        self.say(server, session, [further_right] * 40)
        labels = self.folder / "labels"
        run("export", "--data", data, "--session", session, "--format", "lerobot", "--out", str(labels))
        score = pd.read_parquet(labels / "episodes.parquet").set_index("episode_index").score
        truth = [states[of == e, 0].mean() for e in range(pen.EPISODES)]
        pairs = [(a, b) for a in range(pen.EPISODES) for b in range(a) if abs(truth[a] - truth[b]) > 0.05]
        right = sum((score[a] > score[b]) == (truth[a] > truth[b]) for a, b in pairs)
        print(f"features: {right} of {len(pairs)} pairs of episodes in the right order, correlation {np.corrcoef(score, truth)[0, 1]:.2f}")
        self.assertEqual(len(pairs), 58)
        self.assertGreaterEqual(right, 50)  # by chance 29


def further_right(a, b):
    """Answers by the pictures of two clips: the one in which the pen, which is red, is further to the right on average."""
    return "a" if place(a) > place(b) else "b"


def place(clip):
    """Returns where the pen is in the pictures that a clip of the page has beside its video, on average: 0 left to 1 right."""
    from PIL import Image

    length = int.from_bytes(clip[4:8], "little")
    header, at, found = json.loads(clip[8 : 8 + length]), 8 + length, []
    for picture in header["pictures"]:
        image = np.asarray(Image.open(io.BytesIO(clip[at : at + picture["n"]])).convert("RGB"), np.float64)
        image, at = image[:, : image.shape[1] * 96 // 224], at + picture["n"]  # of the camera front
        red = np.clip(image[:, :, 0] - image[:, :, 1] - 60, 0, None).sum(axis=0)
        found.append(red @ np.arange(len(red)) / red.sum() / len(red))
    return float(np.average(found, weights=np.bincount(header["show"])))


if __name__ == "__main__":
    unittest.main()
