"""A reward from chosen and rejected texts as TRL has them. Needs datasets, pandas and pyarrow."""
import re
import sys

import numpy as np
import pandas as pd
from datasets import load_dataset

data = load_dataset("json", data_files=sys.argv[1] + "/adapters/trl.jsonl", split="train")
t = pd.read_parquet(sys.argv[1] + "/comparisons.parquet").set_index("label_id").split
split = t.loc[data["label_id"]].to_numpy()
numbers = lambda texts: np.array([[float(v) for v in re.findall(r" (\S+?)(?:,|$)", text)] for text in texts])
x = numbers(data["chosen"]) - numbers(data["rejected"])
x, train, test = x / x.std(0), split == "train", split == "test"
w = np.zeros(x.shape[1])
for _ in range(2000):  # logistic regression: the chosen one is preferred
    w += 0.5 * (1 - 1 / (1 + np.exp(-x @ w)))[train] @ x[train] / train.sum()
print(f"accuracy {np.mean(x @ w > 0, where=test):.3f} of {test.sum()}")
