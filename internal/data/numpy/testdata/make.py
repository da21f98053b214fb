"""Writes the arrays in this folder.

    python -m venv v1 && v1/bin/pip install numpy==1.26.4 && v1/bin/python make.py
    python -m venv v2 && v2/bin/pip install numpy==2.3.5  && v2/bin/python make.py
"""

import os

import numpy as np

folder = os.path.dirname(os.path.abspath(__file__))
tag = "numpy" + np.__version__.split(".")[0]
np.save(os.path.join(folder, f"{tag}-ints.npy"), np.array([0, 1, -1, 1, 0, 200, 70000, -70000, 3000000000], dtype=np.int64))
np.save(os.path.join(folder, f"{tag}-soft.npy"), np.array([[1, 0], [0, 1], [0.5, 0.5]], dtype=np.float32))
