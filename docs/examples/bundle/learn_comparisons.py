"""A reward that is linear in the features of the environment, from comparisons.parquet. Needs pandas and pyarrow."""
import sys

import numpy as np
import pandas as pd

t = pd.read_parquet(sys.argv[1] + "/comparisons.parquet")
x = np.stack(t.features_a) - np.stack(t.features_b)
x, p = x / x.std(0), t.prob_a.to_numpy()  # p: probability that a is preferred
split = t.split.to_numpy()
train, test = split == "train", (split == "test") & (p != 0.5)
w = np.zeros(x.shape[1])
for _ in range(2000):  # logistic regression
    w += 0.5 * (p - 1 / (1 + np.exp(-x @ w)))[train] @ x[train] / train.sum()
print("weights", w.round(2), f"accuracy {np.mean((x @ w > 0) == (p > 0.5), where=test):.3f} of {test.sum()}")
