"""A reward from the arrays that IPL reads. Needs numpy, pandas and pyarrow. Label 1.0: the SECOND segment."""
import sys

import numpy as np
import pandas as pd

a = np.load(sys.argv[1] + "/adapters/ipl.npz")
inputs = lambda k: np.concatenate([a[f"obs_{k}"], a[f"action_{k}"], a[f"action_{k}"] ** 2], axis=2).sum(1)
x, p = inputs(2) - inputs(1), a["label"]  # the second less the first, as label speaks of the second
split = pd.read_parquet(sys.argv[1] + "/comparisons.parquet").split[a["comparison"]].to_numpy()
x, train, test = x / x.std(0), split == "train", (split == "test") & (p != 0.5)
w = np.zeros(x.shape[1])
for _ in range(2000):  # logistic regression
    w += 0.5 * (p - 1 / (1 + np.exp(-x @ w)))[train] @ x[train] / train.sum()
print(f"accuracy {np.mean((x @ w > 0) == (p > 0.5), where=test):.3f} of {test.sum()}")
