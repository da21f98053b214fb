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


SETTINGS = {
    "title": "CartPole",
    "description": "A pole stands on a cart. The cart is pushed to the left or to the right fifty times a second.",
    "horizon": 200,
    "clip_steps": 60,
    "playback": 0.5,
}
