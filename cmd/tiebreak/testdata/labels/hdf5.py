"""Writes small data sets in the layouts of D4RL and Minari, and the rows that labels count in each.

    python hdf5.py FOLDER

FOLDER/NAME.hdf5, and FOLDER/NAME-observations.npy and NAME-actions.npy with those rows.
"""

import os
import sys

import h5py
import numpy as np

out = sys.argv[1]
rng = np.random.default_rng(3)
lengths = [9, 4, 12, 1, 7, 6]  # of episodes; those with an even number are cut off
obs, nxt, acts, terminals, timeouts = [], [], [], [], []
for i, n in enumerate(lengths):
    states = rng.normal(size=(n + 1, 3)).astype(np.float32)
    obs, nxt = obs + list(states[:-1]), nxt + list(states[1:])
    acts += list(rng.normal(size=(n, 2)).astype(np.float32))
    terminals += [t == n - 1 and i % 2 == 1 for t in range(n)]
    timeouts += [t == n - 1 and i % 2 == 0 for t in range(n)]
obs, nxt, acts, terminals, timeouts = (np.array(v) for v in (obs, nxt, acts, terminals, timeouts))


def expect(name, rows):
    for kind, v in (("observations", obs[rows]), ("actions", acts[rows])):
        np.save(os.path.join(out, f"{name}-{kind}.npy"), v.astype(np.float64))


with h5py.File(os.path.join(out, "d4rl.hdf5"), "w") as f:
    for name, v in (("observations", obs), ("next_observations", nxt), ("actions", acts), ("rewards", np.zeros(len(obs))), ("terminals", terminals), ("timeouts", timeouts)):
        f[name] = v
expect("d4rl", [i for i in range(len(obs) - 1) if not timeouts[i]])

with h5py.File(os.path.join(out, "minari.hdf5"), "w") as f:
    at = 0
    for i, n in enumerate(lengths):
        g = f.create_group(f"episode_{i}")
        g["observations"] = np.concatenate([obs[at:at + n], nxt[at + n - 1:at + n]])
        g["actions"], g["terminations"], g["truncations"] = acts[at:at + n], terminals[at:at + n], timeouts[at:at + n]
        at += n
expect("minari", list(range(len(obs))))

flat = os.path.join(out, "flat.hdf5")  # a folder of arrays, as in the adapters of a bundle
os.makedirs(flat)
for name, v in (("observations", obs), ("actions", acts), ("terminals", terminals), ("timeouts", timeouts)):
    np.save(os.path.join(flat, name + ".npy"), v)
expect("flat", list(range(len(obs))))

# Without timeouts, d4rl.qlearning_dataset counts steps: of episodes of four steps, it leaves the last one out.
counted = os.path.join(out, "counted.hdf5")
os.makedirs(counted)
np.save(os.path.join(counted, "observations.npy"), obs[:12])
np.save(os.path.join(counted, "actions.npy"), acts[:12])
np.save(os.path.join(counted, "terminals.npy"), np.zeros(12, bool))
expect("counted", [0, 1, 2, 4, 5, 6, 8, 9, 10])

# After a terminal it counts from 1, so that its rows are in no episodes.
shifted = os.path.join(out, "shifted.hdf5")
os.makedirs(shifted)
for name, v in (("observations", obs), ("actions", acts), ("terminals", terminals)):
    np.save(os.path.join(shifted, name + ".npy"), v)
