"""The part of the pictures of an environment in which there is something to see."""

import time

import numpy as np

from .limits import MIN_SIDE

EPISODES, DRAW_EVERY, SECONDS = 40, 10, 10.0  # steps between pictures; seconds of a processor after which no more are drawn
MARGIN = 0.1  # of the part, on each side
LARGE = 0.5  # a part of so much of the picture is not worth a view


def propose(adapter):
    """Return left, top, width and height of the part of the pictures that has more than their background in episodes of random linear policies, like those that Tiebreak shows first, with a margin. None if that is half of the picture or more."""
    seen, size, began = None, None, time.process_time()
    for seed in range(EPISODES):
        for picture in _pictures(adapter, seed):
            size = picture.shape[1::-1]
            seen = _around(seen, _content(picture))
            if time.process_time() - began > SECONDS:
                return _view(seen, size)
    return _view(seen, size)


def _pictures(adapter, seed):
    """Play an episode of a random linear policy, and yield pictures of it, the first state's and the last one's among them."""
    policy, action, over = np.random.default_rng(seed), adapter.actions.described, False
    observation = np.array(adapter.reset(seed)["observation"])
    weights = policy.normal(size=(action.get("n") or len(action["low"]), observation.size))
    for k in range(adapter.horizon + 1):
        over = over or k == adapter.horizon
        if over or k % DRAW_EVERY == 0:
            yield np.asarray(adapter.env.render())[:, :, :3]
        if over:
            return
        score = np.tanh(np.nan_to_num(weights @ observation))
        if "n" in action:
            step = adapter.step(int(score.argmax()))
        else:
            low, high = np.array(action["low"]), np.array(action["high"])
            step = adapter.step((low + (score + 1) / 2 * (high - low)).tolist())
        observation, over = np.array(step["observation"]), step["terminated"] or step["truncated"]


def _content(picture):
    """Return left, top, right and bottom of what differs from the most common colour of a picture. None if nothing does."""
    apart = max(1, min(picture.shape[:2]) // 64)  # some thousand pixels tell the colour
    colours, counts = np.unique(picture[::apart, ::apart].reshape(-1, 3), axis=0, return_counts=True)
    differs = (picture != colours[counts.argmax()]).any(axis=2)
    if not differs.any():
        return None
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _around(a, b):
    """Return the smallest part that has two parts in it."""
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _view(part, size):
    """Return a part with its margin as a view. None if it is not worth one, or there is none."""
    if part is None:
        return None
    sides = []
    for low, high, most in ((part[0], part[2], size[0]), (part[1], part[3], size[1])):
        wide = max(round((1 + 2 * MARGIN) * (high - low)), MIN_SIDE)
        start = max(0, (low + high - wide) // 2)
        sides.append((start, min(most, (low + high - wide) // 2 + wide) - start))
    (left, width), (top, height) = sides
    if min(width, height) < MIN_SIDE or width * height >= LARGE * size[0] * size[1]:
        return None
    return [left, top, width, height]
