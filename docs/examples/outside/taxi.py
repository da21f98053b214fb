"""Taxi of Gymnasium: python -m tiebreak describe taxi.py > taxi.json"""

import gymnasium


def make_env():
    return gymnasium.make("Taxi-v3", render_mode="rgb_array")


def features(observation, action, after, info):
    """What people may care about, in each step: an action of six, and the places that the number of the state says."""
    moved = observation != after
    return {
        "Driving": float(action < 4 and moved),
        "Against a wall": float(action < 4 and not moved),
        "Passenger got in or out": float(action >= 4 and moved),
        "In or out where it is not possible": float(action >= 4 and not moved),
        "Passenger in the taxi": float(after // 4 % 5 == 4),
    }


SETTINGS = {"title": "Taxi", "description": "A taxi drives to a passenger, and takes them to where they want to go.", "horizon": 100, "clip_steps": 20, "playback": 1}
