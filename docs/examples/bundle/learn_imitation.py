"""A reward from imitation's preference types. Needs imitation, pandas and pyarrow. Preference 1.0: the first fragment."""
import sys

import numpy as np
import pandas as pd

sys.path.append(sys.argv[1] + "/python")
import tiebreak_bundle

pairs, p = tiebreak_bundle.imitation(sys.argv[1])  # what PreferenceDataset.push takes
inputs = lambda f: np.concatenate([f.obs[1:], f.acts, f.acts**2], axis=1).sum(0)
x = np.array([inputs(first) - inputs(second) for first, second in pairs])
rows = np.load(sys.argv[1] + "/adapters/imitation.npz")["comparison"]
split = pd.read_parquet(sys.argv[1] + "/comparisons.parquet").split[rows].to_numpy()
x, train, test = x / x.std(0), split == "train", (split == "test") & (p != 0.5)
w = np.zeros(x.shape[1])
for _ in range(2000):  # logistic regression: p is the probability of the first
    w += 0.5 * (p - 1 / (1 + np.exp(-x @ w)))[train] @ x[train] / train.sum()
print(f"accuracy {np.mean((x @ w > 0) == (p > 0.5), where=test):.3f} of {test.sum()}")
