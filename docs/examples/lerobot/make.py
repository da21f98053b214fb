"""Writes a small dataset by the real LeRobot package, with its own encoder settings.

    python make.py FOLDER [--codec h264|libsvtav1] [--fps 10] [--files small]

12 episodes of 30 to 60 frames: 3 tasks, 2 policies, 2 seeds. A pen goes to an edge; the policy "steady" goes
straight, "shaky" trembles and stops before it. Two cameras: front (96 x 96 pixels) and side (128 wide, 96 high).
Each picture tells its place by BARS bars of BAR pixels at its upper edge, white for 1: 5 bits of the episode, 7 of
the frame, highest bit first; read_bars has the numbers back from a decoded picture.

Columns besides LeRobot's own: observation.state (x, y) and action (dx, dy), both in metres; policy, the name of who
acted, and seed, the number of the start, in every frame; next.success, true in the last frame of an episode that
reached its goal.
"""

import argparse
from pathlib import Path

import numpy as np

EPISODES, FPS = 12, 10
TASKS = ("Draw a line to the left edge.", "Draw a line to the right edge.", "Draw a line to the upper edge.")
POLICIES = ("steady", "shaky")
BARS, BAR, DEEP = 12, 8, 32
CAMERAS = {"observation.images.front": (96, 96), "observation.images.side": (128, 96)}
GOALS = np.array([(-0.4, 0.0), (0.4, 0.0), (0.0, 0.4)], np.float32)


def plan(episode):
    """Returns who acts in an episode, and where: policy, task, seed and number of frames."""
    policy, task, seed = POLICIES[episode % 2], episode // 2 % 3, episode // 6
    return policy, task, seed, 30 + (episode * 7) % 31


def motion(episode):
    """Returns the positions (frames x 2) and the steps that lead to the next ones, in metres."""
    policy, task, seed, frames = plan(episode)
    start = np.random.default_rng([seed, task]).uniform(-0.1, 0.1, 2).astype(np.float32)
    reach, tremble = (1.0, 0.0) if policy == "steady" else (0.6, 0.02)
    noise = np.random.default_rng([episode, 1]).normal(0, tremble, (frames + 1, 2)).astype(np.float32)
    share = np.linspace(0, reach, frames + 1, dtype=np.float32)[:, None]
    path = start + share * (GOALS[task] - start) + noise
    return path[:-1], np.diff(path, axis=0)


def picture(width, height, episode, frame, at, bars=True):
    """Draws one frame (height x width x 3 bytes): the bars, and a square where the pen is."""
    image = np.full((height, width, 3), 90, np.uint8)
    image[:, :, 2] = np.linspace(40, 200, width, dtype=np.uint8)
    for bar in range(BARS if bars else 0):
        bit = ((episode << 7) | frame) >> (BARS - 1 - bar) & 1
        image[:DEEP, bar * BAR : (bar + 1) * BAR] = 235 if bit else 20
    x = int((at[0] + 0.5) * (width - 9))
    y = int(DEEP + (0.5 - at[1]) * (height - DEEP - 9))
    image[max(y, DEEP) : y + 8, max(x, 0) : x + 8] = (220, 60, 40)
    return image


def read_bars(image):
    """Returns (episode, frame) of a decoded picture of height x width x 3, in any scale of brightness."""
    grey = np.asarray(image, np.float64).mean(axis=2)
    half = (grey.max() + grey.min()) / 2
    number = 0
    for bar in range(BARS):
        middle = grey[8 : DEEP - 8, bar * BAR + 2 : (bar + 1) * BAR - 2]
        number = number << 1 | int(middle.mean() > half)
    return number >> 7, number & 127


def features():
    """Returns the columns as LeRobotDataset.create takes them."""
    cameras = {
        name: {"dtype": "video", "shape": (height, width, 3), "names": ["height", "width", "channels"]}
        for name, (width, height) in CAMERAS.items()
    }
    return {
        **cameras,
        "observation.state": {"dtype": "float32", "shape": (2,), "names": ["x", "y"]},
        "action": {"dtype": "float32", "shape": (2,), "names": ["dx", "dy"]},
        "policy": {"dtype": "string", "shape": (1,), "names": None},
        "seed": {"dtype": "int64", "shape": (1,), "names": None},
        "next.success": {"dtype": "bool", "shape": (1,), "names": None},
    }


def make(folder, codec="libsvtav1", fps=FPS, files="large", bars=True):
    """Writes the dataset into folder, which must not exist.

    codec is one of LeRobot's vcodec. With small files, a file holds a few episodes and a folder two files; with large
    ones, LeRobot's default, one file holds all of them. Without bars, pictures show the pen alone.
    """
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    dataset = LeRobotDataset.create(
        "tiebreak/pen", fps=fps, features=features(), root=folder, robot_type="pen_plotter", vcodec=codec
    )
    if files == "small":
        dataset.meta.update_chunk_settings(chunks_size=2, data_files_size_in_mb=0.02, video_files_size_in_mb=0.03)
    for episode in range(EPISODES):
        policy, task, seed, _ = plan(episode)
        states, actions = motion(episode)
        for frame, (state, action) in enumerate(zip(states, actions)):
            last = frame == len(states) - 1
            dataset.add_frame(
                {
                    **{
                        name: picture(width, height, episode, frame, state, bars)
                        for name, (width, height) in CAMERAS.items()
                    },
                    "observation.state": state,
                    "action": action,
                    "policy": policy,
                    "seed": np.array([seed], np.int64),
                    "next.success": np.array([last and policy == "steady"]),
                    "task": TASKS[task],
                }
            )
        dataset.save_episode()
    dataset.finalize()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--codec", default="libsvtav1", choices=["h264", "libsvtav1", "hevc"])
    parser.add_argument("--fps", type=int, default=FPS)
    parser.add_argument("--files", default="large", choices=["large", "small"])
    options = parser.parse_args()
    make(options.folder, options.codec, options.fps, options.files)
    print(f"{options.folder} has {EPISODES} episodes.")


if __name__ == "__main__":
    main()
