"""InvertedPendulum of Gymnasium and MuJoCo, drawn as a scene, which needs no graphics card."""

import gymnasium
import numpy as np


def make_env():
    return gymnasium.make("InvertedPendulum-v5")


def features(observation, action, after, info):
    place, angle, speed, turn = (float(v) for v in after)
    return {"Pole upright": np.cos(angle), "Cart in the middle": 1 - abs(place), "Cart at rest": -min(1.0, abs(speed)), "Effort": -float(np.square(action).sum())}


def scene(env):
    """A cart on a rail and its pole, x to the right and y up, in metres."""
    place, angle = (float(v) for v in env.unwrapped.data.qpos)
    tip = [place + 0.6 * np.sin(angle), 0.6 * np.cos(angle)]
    box = [place - 0.15, -0.06, place + 0.15, -0.06, place + 0.15, 0.06, place - 0.15, 0.06]
    return {
        "camera": {"x": 0, "y": 0.25, "w": 2.6, "h": 1.3},
        "static": [{"kind": "line", "paint": "mark", "size": 0.02, "points": [-1, 0, 1, 0]}],
        "moving": [
            {"kind": "poly", "paint": "other", "points": box},
            {"kind": "line", "paint": "agent", "size": 0.06, "points": [place, 0, *tip]},
        ],
    }


def save(env):
    """The whole state of the simulation, so that no episode must be played again to return to it."""
    data = env.unwrapped.data
    return [data.time, *data.qpos, *data.qvel, *data.qacc_warmstart]


def restore(env, state):
    data, inner = env.unwrapped.data, env.unwrapped
    n, m = inner.model.nq, inner.model.nv
    inner.set_state(state[1 : 1 + n], state[1 + n : 1 + n + m])
    data.time, data.qacc_warmstart[:] = state[0], state[1 + n + m :]


SETTINGS = {
    "title": "InvertedPendulum (Gymnasium)",
    "description": "A cart on a rail keeps a pole upright. An episode ends when the pole leans.",
    "horizon": 200,
    "clip_steps": 50,
}
