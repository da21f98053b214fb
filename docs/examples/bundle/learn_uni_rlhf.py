"""A reward from indices and labels as Uni-RLHF has them. Label 0: the first, 1: the SECOND, -1: equal."""
import json
import sys

import numpy as np
import pandas as pd

load = lambda name: np.load(f"{sys.argv[1]}/adapters/uni_rlhf/{name}.npy")
length = json.load(open(sys.argv[1] + "/meta.json"))["counts"]["adapter_steps"]
steps = np.concatenate([load("observations"), load("actions"), load("actions") ** 2], axis=1)
inputs = lambda k: steps[load(f"indices_{k}")[:, None] + np.arange(length)].sum(1)
x, label = inputs(2) - inputs(1), load("human_label")
split = pd.read_parquet(sys.argv[1] + "/comparisons.parquet").split[load("comparison")].to_numpy()
x, train, test = x / x.std(0), (split == "train") & (label >= 0), (split == "test") & (label >= 0)
w = np.zeros(x.shape[1])
for _ in range(2000):  # logistic regression: label is the probability of the second
    w += 0.5 * (label - 1 / (1 + np.exp(-x @ w)))[train] @ x[train] / train.sum()
print(f"accuracy {np.mean((x @ w > 0) == (label == 1), where=test):.3f} of {test.sum()}")
