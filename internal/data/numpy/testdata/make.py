"""Writes the pickles and arrays in this folder's pickles/, as Python does it.

    python -m venv v1 && v1/bin/pip install numpy==1.26.4 && v1/bin/python make.py
    python -m venv v2 && v2/bin/pip install numpy==2.3.5  && v2/bin/python make.py

NumPy before 2 and since 2 names its modules in different ways, so that both are there.
"""

import os
import pickle

import numpy as np

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pickles")
tag = "numpy" + np.__version__.split(".")[0]
INTS = [0, 1, -1, 1, 0, 200, 70000, -70000, 3000000000]
SOFT = [[1, 0], [0, 1], [0.5, 0.5]]


def write(name, value, protocol):
    with open(os.path.join(folder, name), "wb") as f:
        pickle.dump(value, f, protocol=protocol)


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/pwned",)


for protocol in (2, 3, 4, 5):
    for name, value in {
        "ints": np.array(INTS, dtype=np.int64),
        "soft": np.array(SOFT),
        "column": np.array([[0], [1], [-1]], dtype=">i4"),
        "scalars": [np.int64(i) for i in INTS],
        "list": INTS,
        "rows": [[0.0], [1.0], [-1.0]],
    }.items():
        write(f"{tag}-{protocol}-{name}.pkl", value, protocol)
np.save(os.path.join(folder, f"{tag}-ints.npy"), np.array(INTS, dtype=np.int64))
np.save(os.path.join(folder, f"{tag}-soft.npy"), np.array(SOFT, dtype=np.float32))

for name, value in {
    "evil": Evil(),
    "evil-list": [0, 1, Evil()],
    "object": np.array([1, None], dtype=object),
    "text": np.array(["a", "b"]),
    "dict": {"labels": [0, 1]},
    "none": None,
    "number": 7,
    "nan": np.array([0.0, np.nan]),
    "infinite": [0.0, float("inf")],
    "ragged": [[0], [1, 2]],
    "mixed": [0, [1]],
    "words": ["a"],
    "fortran": np.asfortranarray(np.array([[1, 2], [3, 4]])),
    "record": np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")]),
    "huge": [1 << 70],
}.items():
    write(f"bad-{name}.pkl", value, 4)
write("bad-protocol0.pkl", INTS, 0)
