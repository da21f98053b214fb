"""Driving on a motorway, of highway-env: python -m tiebreak describe highway.py > highway.json"""

import gymnasium
import highway_env  # noqa: F401: it registers its environments


def make_env():
    return gymnasium.make("highway-fast-v0", render_mode="rgb_array", config={"duration": 20})


def features(observation, action, after, info):
    """What people may care about, in each step: the car's own row of the observation, and what it did of five actions."""
    return {
        "Fast": (info["speed"] - 25) / 5,
        "Crashed": float(info["crashed"]),
        "Changing lanes": float(action in (0, 2)),
        "Right lane": float(after[0][2]),
        "Near another car": float(((abs(after[1:, 1]) < 0.15) & (abs(after[1:, 2]) < 0.15) & (after[1:, 0] > 0)).any()),
    }


SETTINGS = {"title": "Motorway", "description": "A car drives among others.", "horizon": 20, "step_seconds": 1.0, "clip_steps": 10, "playback": 5}
