"""A room of MiniGrid: python -m tiebreak describe minigrid_empty.py > minigrid-empty.json"""

import gymnasium
import minigrid  # noqa: F401: it registers its environments


def make_env():
    return gymnasium.make("MiniGrid-Empty-6x6-v0", render_mode="rgb_array")


def features(observation, action, after, info):
    """What people may care about, in each step: an action of seven, and what the agent sees before it."""
    same = after["direction"] == observation["direction"] and (after["image"] == observation["image"]).all()
    goal = after["image"][:, :, 0] == 8  # in minigrid.core.constants.OBJECT_TO_IDX
    return {
        "Going forward": float(action == 2 and not same),
        "Against a wall": float(action == 2 and same),
        "Turning": float(action < 2),
        "Doing nothing": float(action > 2),
        "Goal in view": float(goal.any()),
        "Near the goal": float(goal[:, 4:].any()),
    }


SETTINGS = {"title": "An empty room", "description": "An agent walks in a room with a green goal.", "horizon": 60, "clip_steps": 20}
