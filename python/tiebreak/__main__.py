"""python -m tiebreak serve|check|describe FILE.py"""

import argparse
import base64
import contextlib
import json
import math
import os
import runpy
import signal
import sys
import time

import numpy as np

from . import view
from .adapter import SETTINGS, Adapter, SettingsError
from .limits import MAX_NUMBER, check_picture, check_scene, small
from .server import claim_output, converse, listening, read_address, serve_connections


SLOW_STEP = 0.005  # seconds of a processor: above it Tiebreak makes fewer clips
CHECK_SECONDS = 20.0  # after which check plays no more episodes


def first_clips(step, horizon):
    """Say how long the first clips take, as internal/train/training/trainer.go bounds them: at least four episodes, each played twice."""
    seconds = max(60.0, 4 * 2 * step * horizon)
    return "a minute" if seconds < 90 else f"{seconds / 60:.0f} minutes; shorter episodes (horizon) or a faster simulation help"


def load(path):
    """Return make_env and the settings that a file defines."""
    try:
        open(path, "rb").close()
    except OSError as wrong:
        raise SettingsError(f"it cannot be read: {wrong.strerror}") from None
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    found = runpy.run_path(path, run_name="__tiebreak__")
    if not callable(found.get("make_env")):
        raise SettingsError("it must define make_env(), which returns the environment")
    settings = dict(found.get("SETTINGS", {}))
    for name in ("features", "happens", "scene", "save", "restore"):
        if callable(found.get(name)):
            settings.setdefault(name, found[name])
    unknown = sorted(set(settings) - set(SETTINGS))
    if unknown:
        raise SettingsError(f"there is no setting {unknown[0]}; known: {', '.join(SETTINGS)}")
    return found["make_env"], settings


def describe(path):
    """Return a description for tiebreak serve --outside."""
    make_env, settings = load(path)
    adapter = Adapter(make_env, **settings)
    said = adapter.hello()
    out = {"title": said.get("title", said["name"]), "command": [sys.executable, "-m", "tiebreak", "serve", os.path.basename(path)]}
    step = measure(adapter)
    return out | {"step_ms": float(f"{1000 * step:.1g}")} if step >= SLOW_STEP else out


def measure(adapter):
    """Return the processor seconds that a step takes, by at most two seconds of play: the load of the machine does not count."""
    began, steps, stream = time.process_time(), 0, np.random.default_rng(0)
    while steps < 200 and time.process_time() - began < 2:
        steps += len(play(adapter, steps, stream, until=began + 2)[2])
    return (time.process_time() - began) / steps


def play(adapter, seed, stream, until=math.inf):
    """Play an episode of random actions, until the processor has spent that many seconds. Return observations, features by step, and actions."""
    seen, sums, actions = [adapter.reset(seed)["observation"]], [], []
    for _ in range(adapter.horizon):
        if "n" in adapter.actions.described:
            action = int(stream.integers(adapter.actions.n))
        else:
            action = stream.uniform(adapter.actions.low, adapter.actions.high).tolist()
        step = adapter.step(action)
        seen.append(step["observation"])
        sums.append(step["features"])
        actions.append(action)
        if step["terminated"] or step["truncated"] or time.process_time() > until:
            break
    return seen, np.array(sums), actions


def check_states(adapter, seed, actions):
    """Save a state in the middle of an episode, return to it in another one, and play on. Return what is wrong, "" if nothing is."""
    half = len(actions) // 2
    adapter.reset(seed)
    for action in actions[:half]:
        adapter.step(action)
    state = adapter.save()["state"]
    if not small(state):
        return f"with seed {seed}, the state saved after {half} steps has a number that is not finite, or not below 3.4e38"
    played = [adapter.step(a) for a in actions[half:]]
    adapter.reset(0)
    adapter.restore(state)
    again = [adapter.step(a) for a in actions[half:]]
    for what, found, cause in (
        ("observation", "another observation", "save must return all that the next steps depend on, such as the state of its random numbers, and restore must set it"),
        ("terminated", "another end", "save must return all that the end of an episode depends on, and restore must set it"),
        ("features", "other features", "they may depend on the arguments of features and on what save returns, and on nothing else"),
        ("happens", "another name of what happens", "it may depend on the arguments of happens and on what save returns, and on nothing else"),
    ):
        differ = [k for k, (a, b) in enumerate(zip(played, again)) if a.get(what) != b.get(what)]
        if differ:
            return f"with seed {seed}, a state saved after {half} steps and restored led to {found} {differ[0] + 1} steps later: {cause}"
    return ""


def check_drawing(adapter, seed, actions):
    """Draw the first two states of an episode and its last. Return the seconds and the bytes of a drawing. Raise SettingsError if one cannot be shown."""
    adapter.reset(seed)
    seconds, first = [], None
    for k in range(len(actions) + 1):
        if k > 0:
            adapter.step(actions[k - 1])
        if k in (0, 1, len(actions)):
            began = time.perf_counter()
            drawn = adapter.draw()
            seconds.append(time.perf_counter() - began)
            try:
                line = json.dumps(drawn, allow_nan=False)
            except (TypeError, ValueError) as wrong:
                raise SettingsError(f"scene returned what cannot be written as JSON: {wrong}; tolist() makes lists and numbers of what is numpy's") from None
            if "scene" in drawn:
                check_scene(drawn["scene"], first)
                first = first or json.loads(line)["scene"]  # scene may return the same object again
            else:
                first = check_picture(base64.b64decode(drawn["picture"]), first)
    return np.mean(seconds), len(line)


def check(path):
    """Play an environment as Tiebreak will, and print what it is. Return what is wrong."""
    make_env, settings = load(path)
    wrong = []
    adapter, other = Adapter(make_env, **settings), Adapter(make_env, **settings)
    said = adapter.hello()
    print(json.dumps(said, indent=2))
    began, episodes, sums = time.process_time(), [], []
    for seed in range(8):
        if seed > 1 and time.process_time() - began > CHECK_SECONDS:
            break  # it is slow
        seen, features, actions = play(adapter, seed, np.random.default_rng(seed))
        episodes.append(actions)
        if not (np.abs(seen) <= MAX_NUMBER).all() or not (np.abs(features) <= MAX_NUMBER).all():
            wrong.append(f"with seed {seed} an observation or a feature is not finite, or not below 3.4e38")
        again = [other.reset(seed)["observation"]] + [other.step(a)["observation"] for a in actions]
        if again != seen and not adapter.save_state:
            wrong.append(f"with seed {seed} the same actions led to other observations: take all randomness from reset's seed, or give save and restore")
        clip = features[: said.get("clip_steps", 50)].sum(axis=0)
        sums.append(clip)
    took = (time.process_time() - began) / max(1, 2 * sum(map(len, episodes)))
    if adapter.save_state:
        wrong += filter(None, (check_states(other, seed, actions) for seed, actions in enumerate(episodes)))
    try:
        drawing, size = check_drawing(adapter, 0, episodes[0])
        if took >= SLOW_STEP:
            print(f"It is slow: a step takes {1000 * took:.0f} ms of a processor. `describe` writes that down, and Tiebreak makes fewer clips and policies: the first clips take about {first_clips(took, adapter.horizon)}.")
        print(f"a step takes {1000 * took:.2f} ms, drawing {1000 * drawing:.1f} ms and {size} bytes")
        part = None if adapter.scene else view.propose(adapter)
        if part:
            print(f'Most of the picture has one colour. Without a view, people are shown the part, of the shape of the picture, in which any clip has something to see. This line in the description fixes what they see to what random policies get to; take more where others may get: "view": {part}.')
    except SettingsError as cannot:
        wrong.append(str(cannot))
    spread = np.std(sums, axis=0)
    if adapter.prior_scale is None and (spread > 0).all():
        print("prior_scale by random episodes:", json.dumps({n: float(f"{3 / s:.2g}") for n, s in zip(adapter.names, spread)}))
    return wrong


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def address(text):
    """Check an address of the command line."""
    try:
        read_address(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None
    return text


def listen(address, make_env, settings):
    """Serve at an address until a signal ends it. Return the exit code."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that the file of a socket is removed
    with contextlib.ExitStack() as stack:
        try:
            listener = stack.enter_context(listening(address))
        except OSError as wrong:
            raise SettingsError(f"cannot listen at {address}: {wrong.strerror or wrong}") from None
        with contextlib.suppress(KeyboardInterrupt):
            serve_connections(listener, make_env, settings)
    return 128 + signal.SIGINT


def main(argv=None):
    parser = Parser(prog="python -m tiebreak")
    parser.add_argument("what", choices=["serve", "check", "describe"])
    parser.add_argument("file", help="a Python file that defines make_env")
    parser.add_argument("--listen", type=address, help="unix:PATH, tcp:PORT or tcp:127.0.0.1:PORT; default: standard input and output")
    args = parser.parse_args(argv)
    try:
        if args.what == "describe":
            with contextlib.redirect_stdout(sys.stderr):
                said = describe(args.file)
            print(json.dumps(said, indent=2))
            return 0
        if args.what == "check":
            wrong = check(args.file)
            print("\n".join(wrong) if wrong else "It can be served.")
            return 1 if wrong else 0
        out = None if args.listen else claim_output()  # before the file can print
        make_env, settings = load(args.file)
        if args.listen:
            return listen(args.listen, make_env, settings)
        converse(sys.stdin.buffer, out, make_env, settings)
        return 0
    except SettingsError as wrong:
        print(f"{args.file}: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
