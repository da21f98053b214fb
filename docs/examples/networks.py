"""Evaluates networks that Tiebreak wrote: rewards and policies. Needs numpy alone.

    python3 networks.py reward.json < steps.csv

reads one step per line (the observation, then the action), comma-separated, and prints
its reward; of a policy it reads observations, followed by the number of steps of the
episode before where the policy has a horizon, and prints actions. The weights are in the
file of the same name that ends in .safetensors. docs/datasets.md describes the files.
"""

import json
import pathlib
import sys

import numpy as np


def read_safetensors(path):
    """Returns the arrays of a file by name, and its metadata."""
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    types = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8")}
    arrays = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(data[8 + size + first : 8 + size + last], types[entry["dtype"]])
        arrays[name] = numbers.reshape(entry["shape"])
    return arrays, metadata


class Network:
    """A network and its description."""

    def __init__(self, path):
        """path is that of the description, which ends in .json."""
        path = pathlib.Path(path)
        self.description = json.loads(path.read_text())
        kind = self.description["format"]
        if kind not in ("tiebreak.reward-network", "tiebreak.policy-network") or self.description["version"] != 1:
            raise ValueError(f"{path} is not a network of version 1, but {kind}")
        self.number = np.float64 if self.description.get("precision") == "double" else np.float32
        self.arrays, _ = read_safetensors(path.with_suffix(".safetensors"))

    def features(self, inputs):
        """Returns the input of the last layer for rows of inputs."""
        given = self.description["input"]
        x = np.array(inputs, self.number)
        if x.shape[1:] != (len(given["mean"]),):
            raise ValueError(f"rows of {len(given['mean'])} numbers are needed, not {x.shape[1:]}")
        if "horizon" in given:
            x[:, -1] = np.maximum(0, given["horizon"] - x[:, -1]) / self.number(given["horizon"])
        x = x - np.asarray(given["mean"], self.number)
        x = np.where(np.isfinite(x), x, self.number(0)) * np.asarray(given["scale"], self.number)
        for layer in self.description["layers"][:-1]:
            x = self._layer(layer, x)
        return x

    def __call__(self, inputs):
        """Returns the outputs for rows of inputs: rewards, or actions without noise."""
        x = self._layer(self.description["layers"][-1], self.features(inputs))
        output = self.description.get("output")
        if output is None:
            return x[:, 0]
        low, high = np.asarray(output["low"]), np.asarray(output["high"])
        x = x[:, : len(low)].astype(np.float64)
        if output["squash"] == "tanh":
            return low + (high - low) * (np.tanh(x) + 1) / 2
        if output["squash"] == "clip":
            return np.clip(x, low, high)
        raise ValueError(f"unknown output {output['squash']}")

    def _layer(self, layer, x):
        x = x @ self.arrays[layer["weight"]].T
        if "bias" in layer:
            x = x + self.arrays[layer["bias"]]
        if layer["activation"] == "leaky_relu":
            return np.where(x > 0, x, self.number(layer.get("slope", 0)) * x)
        if layer["activation"] != "identity":
            raise ValueError(f"unknown activation {layer['activation']}")
        return x


def main():
    network = Network(sys.argv[1])
    inputs = np.loadtxt(sys.stdin, delimiter=",", ndmin=2)
    np.savetxt(sys.stdout, network(inputs), fmt="%.9g", delimiter=",")


if __name__ == "__main__":
    main()
