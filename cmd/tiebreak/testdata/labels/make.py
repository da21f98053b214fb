"""Writes a sample of released labels: rollouts, and comparisons of their segments by a known reward.

    python make.py FOLDER

FOLDER/rollouts is a folder of rollouts (docs/rollouts.md), FOLDER/uni_rlhf and FOLDER/preference_transformer
hold the same comparisons as pickles, in the form of both releases. The committed sample was written with
numpy 1.26.4 and converted by docs/examples/labels/arrays.py; the tests do so anew with the numpy that they have.
"""

import json
import os
import pickle
import sys

import numpy as np

LENGTH, COMPARISONS, WEIGHTS, TIE = 10, 240, np.array([2.0, -1.0, 0.5]), 1.0
UUID = "0123456789abcdef0123456789abcdef"

out = sys.argv[1]
rng = np.random.default_rng(7)
os.makedirs(os.path.join(out, "rollouts"))
features, starts, listed, row = [], [], [], 0
for i in range(12):
    steps = int(rng.integers(30, 50))
    phi = np.zeros((steps, 3), dtype=np.float32)
    for t in range(1, steps):
        phi[t] = 0.8 * phi[t - 1] + 0.5 * rng.normal(size=3)
    np.savez(os.path.join(out, "rollouts", f"episode-{i}.npz"), features=phi)
    listed.append({"name": f"episode-{i}"})
    features.append(phi)
    starts += range(row, row + steps - LENGTH + 1)
    row += steps
with open(os.path.join(out, "rollouts", "rollouts.json"), "w") as f:
    json.dump({"format": "tiebreak.rollouts", "version": 1, "title": "A sample", "shown": False, "step_seconds": 0.1,
               "clip_steps": LENGTH, "features": ["speed", "effort", "height"], "rollouts": listed}, f, indent=1)

reward = np.concatenate(features) @ WEIGHTS
first, second = (np.array(rng.choice(starts, COMPARISONS), dtype=np.int32) for _ in range(2))
labels = []
for a, b in zip(first, second):
    better = reward[a:a + LENGTH].sum() - reward[b:b + LENGTH].sum()
    labels.append(-1 if abs(better) < TIE else 0 if better > 0 else 1)


def write(folder, name, value, protocol):
    os.makedirs(os.path.join(out, folder), exist_ok=True)
    with open(os.path.join(out, folder, name), "wb") as f:
        pickle.dump(value, f, protocol=protocol)


named = f"_domain_mujoco_env_sample-v0_num_{COMPARISONS}_len_{LENGTH}_{UUID}.pkl"
write("uni_rlhf", "human_label" + named, np.array(labels), 4)
write("uni_rlhf", "indices_1" + named, first, 4)
write("uni_rlhf", "indices_2" + named, second, 4)
write("preference_transformer", "label_human", labels, 3)  # a list
write("preference_transformer", f"indices_num{COMPARISONS}", first, 3)
write("preference_transformer", f"indices_2_num{COMPARISONS}", second, 3)
write("preference_transformer", "label_dummy", np.ones((COMPARISONS, 2)), 3)
