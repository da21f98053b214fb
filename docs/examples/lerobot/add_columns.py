"""Adds what people said of each episode to a copy of a LeRobot data set (v3), as columns of meta/episodes.

    python add_columns.py LABELS DATASET NEW

LABELS is what 'tiebreak export --format lerobot' wrote, DATASET the folder of the data set, NEW the folder of the copy,
which must not exist. The columns are tiebreak/score, tiebreak/score_std, tiebreak/wins, tiebreak/losses, tiebreak/ties,
tiebreak/n_answers, tiebreak/good, tiebreak/success, tiebreak/verdict, tiebreak/verdicts and tiebreak/wrong_frame; they
are empty for episodes of which LABELS knows nothing. LeRobotDataset loads them: dataset.meta.episodes["tiebreak/good"].
With --link videos and data are hard links instead of copies.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = ("score", "score_std", "wins", "losses", "ties", "n_answers", "good", "success", "verdict", "verdicts", "wrong_frame")


def check(labels, episodes, folder):
    """Refuses labels of episodes that the data set does not have, or that are longer there or shorter."""
    lengths = dict(zip(episodes["episode_index"].to_pylist(), episodes["length"].to_pylist()))
    for row in labels.to_pylist():
        index, steps = row["episode_index"], row["n_steps"]
        if index not in lengths:
            sys.exit(f"{folder} has no episode {index}, which there are labels of: is it the data set that was imported?")
        if steps not in (lengths[index], lengths[index] - 1):
            sys.exit(f"Episode {index} has {lengths[index]} frames in {folder}, and the episode that was labelled {steps + 1}: is it the data set that was imported?")


def add(labels, path):
    """Writes a file of meta/episodes anew with the columns."""
    episodes = pq.read_table(path)
    place = {index: i for i, index in enumerate(labels["episode_index"].to_pylist())}
    rows = pa.array([place.get(index) for index in episodes["episode_index"].to_pylist()], pa.int64())
    for name in COLUMNS:
        if f"tiebreak/{name}" in episodes.column_names:
            episodes = episodes.drop_columns([f"tiebreak/{name}"])
        episodes = episodes.append_column(f"tiebreak/{name}", labels[name].combine_chunks().take(rows))
    pq.write_table(episodes, path)


def copy(dataset, new, files, link, change):
    """Copies a data set, and calls change with the path of each of the copied files, which are paths in dataset.

    new is there when all has been done. With link, what is not changed is a hard link.
    """
    half = new.with_name(new.name + ".partial")
    shutil.copytree(dataset, half, copy_function=os.link if link else shutil.copy2)
    for path in files:
        here = half / path.relative_to(dataset)
        here.unlink()  # a link would be to the original
        shutil.copy2(path, here)
        change(here)
    half.rename(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--link", action="store_true", help="hard links to videos and data instead of copies")
    options = parser.parse_args()
    if options.new.exists():
        sys.exit(f"{options.new} exists, and existing folders are not changed: name a new one")
    files = sorted(options.dataset.glob("meta/episodes/*/*.parquet"))
    if not files:
        sys.exit(f"{options.dataset}/meta/episodes has no Parquet files: it is no LeRobot data set of version 3")
    labels = pq.read_table(options.labels / "episodes.parquet")
    check(labels, pa.concat_tables(pq.read_table(f, columns=["episode_index", "length"]) for f in files), options.dataset)

    copy(options.dataset, options.new, files, options.link, lambda path: add(labels, path))
    print(f"{options.new} has the {len(COLUMNS)} columns for {labels.num_rows} episodes.")


if __name__ == "__main__":
    main()
