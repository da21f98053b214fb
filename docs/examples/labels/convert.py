"""Writes a data set of D4RL, or a flat folder of .npy files, as a folder of rollouts (docs/rollouts.md).

    python convert.py hopper_medium-v2.hdf5 hopper --step-seconds 0.008 --clip-steps 200

It needs numpy, and h5py for HDF5. Labels name segments by rows. Those of D4RL's tasks name the rows of
d4rl.qlearning_dataset: all but the last step of each episode that was cut off, and the last of the file.
"""

import argparse
import json
import os

import numpy as np


def load(path):
    """The flat arrays of an HDF5 file, or of the files NAME.npy in a folder."""
    names = ["observations", "actions", "terminals", "timeouts", "next_observations"]
    if os.path.isdir(path):
        found = {n: os.path.join(path, n + ".npy") for n in names}
        return {n: np.load(f) for n, f in found.items() if os.path.exists(f)}
    import h5py

    with h5py.File(path) as f:
        if "episode_0" in f:  # Minari: T + 1 observations and T steps of each episode, whose rows are all steps
            episodes = [f[f"episode_{i}"] for i in range(len([k for k in f if k.startswith("episode_")]))]
            last = [np.arange(len(e["actions"])) == len(e["actions"]) - 1 for e in episodes]
            return {
                "observations": np.concatenate([e["observations"][:-1] for e in episodes]),
                "next_observations": np.concatenate([e["observations"][1:] for e in episodes]),
                "actions": np.concatenate([e["actions"][:] for e in episodes]),
                "terminals": np.concatenate([e["terminations"][:] for e in episodes]),
                "timeouts": np.concatenate(last),
            }
        return {n: f[n][:] for n in names if n in f}


def rollouts(d, rows, ends, longest):
    """Yields observations (T + 1 rows), actions (T rows) and whether a terminal state was reached."""
    obs, n = d["observations"], len(d["observations"])
    begin, steps = 0, 0
    for i in range(n - 1 if rows == "qlearning" else n):
        cut = bool(d["timeouts"][i]) if "timeouts" in d else steps == longest - 1
        dead = bool(d["terminals"][i]) and ends == "both"
        steps += 1
        if cut and rows == "qlearning":  # this row is left out: its observation is the last one
            end, after, dead = i, obs[i], False
        elif cut or dead or i == n - 1:
            end, after = i + 1, d["next_observations"][i] if "next_observations" in d else obs[i]
        elif rows == "qlearning" and i == n - 2:
            end, after = i + 1, obs[i + 1]
        else:
            continue
        if end > begin:
            yield np.concatenate([obs[begin:end], [after]]), d["actions"][begin:end], dead
        begin, steps = i + 1, 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("data")
    p.add_argument("out")
    p.add_argument("--rows", choices=["qlearning", "all"], default="qlearning", help="which rows the labels count")
    p.add_argument("--ends", choices=["both", "timeouts"], default="both", help="what ends an episode; timeouts for antmaze")
    p.add_argument("--max-episode-steps", type=int, default=1000, help="of files without timeouts")
    p.add_argument("--step-seconds", type=float, default=0.05)
    p.add_argument("--clip-steps", type=int, default=200, help="steps of a segment of the labels")
    a = p.parse_args()
    d = load(a.data)
    if a.rows == "qlearning" and "timeouts" not in d and d["terminals"].any():
        # d4rl.qlearning_dataset counts steps there, from 1 after a terminal, and so cuts within episodes.
        p.error("the data have terminals and no timeouts: rows of d4rl.qlearning_dataset would not be those of their episodes. "
                "Use a version of the data that has timeouts, or --rows all if the labels count all rows")
    os.makedirs(a.out)
    listed, total = [], 0
    for i, (obs, acts, dead) in enumerate(rollouts(d, a.rows, a.ends, a.max_episode_steps)):
        np.savez(os.path.join(a.out, f"episode-{i}.npz"), observations=obs, actions=acts)
        listed.append({"name": f"episode-{i}", "terminated": dead})
        total += len(acts)
    manifest = {"format": "tiebreak.rollouts", "version": 1, "title": os.path.basename(a.data), "shown": False,
                "step_seconds": a.step_seconds, "clip_steps": a.clip_steps, "rollouts": listed}
    with open(os.path.join(a.out, "rollouts.json"), "w") as f:
        json.dump(manifest, f)
    print(f"{len(listed)} rollouts, {total} rows")


if __name__ == "__main__":
    main()
