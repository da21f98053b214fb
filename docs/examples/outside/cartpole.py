"""CartPole of Gymnasium: python -m tiebreak describe cartpole.py > cartpole.json"""

import math

import gymnasium


def make_env():
    return gymnasium.make("CartPole-v1", render_mode="rgb_array")


def features(observation, action, after, info):
    """What people may care about, in each step. The names are shown to researchers."""
    place, speed, angle, turn = (float(v) for v in after)
    return {
        "Pole upright": math.cos(angle / 0.21 * math.pi / 2),  # it has fallen at 0.21 rad
        "Cart in the middle": 1 - abs(place) / 2.4,
        "Cart at rest": 1 - min(1.0, abs(speed)),
        "Cart on the right": place / 2.4,
    }


def happens(observation, action, after, info):
    """What a person would call what happens in a step. A clip has the name that comes first in happenings."""
    place, _, angle, _ = (float(v) for v in after)
    if abs(angle) > 0.2:
        return "the pole falls"
    if abs(place) > 0.8:
        return "gets far to the right" if place > 0 else "gets far to the left"
    return "stays near the middle"


SETTINGS = {
    "happenings": {"the pole falls": True, "gets far to the right": False, "gets far to the left": False, "stays near the middle": False},
    "title": "CartPole",
    "description": "A pole stands on a cart. The cart is pushed to the left or to the right fifty times a second.",
    "horizon": 200,
    "clip_steps": 60,
    "playback": 0.5,
}
