"""Loads a bundle by the libraries that it is for, and checks what they say of known items.

    python check.py BUNDLE KNOWN LIBRARY...

KNOWN is a JSON file with the choice of some labels by id, from whoever gave the answers.
"""

import hashlib
import json
import os
import pathlib
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = tempfile.mkdtemp()
os.environ["MINARI_DATASETS_PATH"] = tempfile.mkdtemp()

bundle, known = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
meta = json.loads((bundle / "meta.json").read_text())


def check_files():
    for f in meta["files"]:
        content = (bundle / f["name"]).read_bytes()
        assert len(content) == f["bytes"] and hashlib.sha256(content).hexdigest() == f["sha256"], f["name"]
    there = {str(p.relative_to(bundle)) for p in bundle.rglob("*") if p.is_file()}
    assert there == {f["name"] for f in meta["files"]} | {"meta.json"}


def check_pandas():
    import pandas as pd

    t = pd.read_parquet(bundle / "labels.parquet").set_index("label_id")
    assert len(t) == meta["counts"]["labels"]
    for label, choice in known.items():
        row = t.loc[label]
        assert row.choice == choice and row.prob_a == {"a": 1, "b": 0, "equal": 0.5}[choice], (label, row)
    assert t[t.choice.isin(["skip", "cant_tell"])].prob_a.isna().all() and t.undone.sum() == 1
    assert str(t.received_at.dtype).startswith("datetime64[ms, UTC")
    for name, rows in meta["rows"].items():
        if name.startswith("tiebreak/"):
            with open(bundle / name, encoding="utf-8", newline="\n") as lines:
                head, *records = map(json.loads, lines)
            assert len(records) == rows and all(len(r) == len(head["columns"]) for r in records), name
        else:
            assert len(pd.read_parquet(bundle / name)) == rows, name


def check_pyarrow():
    import pyarrow.parquet as pq

    t = pq.read_table(bundle / "trajectories.parquet")
    assert str(t.schema.field("observations").type).startswith("list<element: list<element: float"), t.schema
    row = t.slice(0, 1).to_pylist()[0]
    assert len(row["observations"]) == row["n_steps"] + 1 == len(row["actions"]) + 1 == len(row["features"]) + 1
    assert "reward" not in " ".join(t.column_names)
    for path in bundle.rglob("*.parquet"):
        pq.read_table(path).validate(full=True)


def check_duckdb():
    import duckdb

    query = f"""
        SELECT c.label_id, c.choice, a.features[1], c.features_a[1], len(t.observations), l.annotator_id, q.purpose
        FROM '{bundle}/comparisons.parquet' c JOIN '{bundle}/labels.parquet' l USING (label_id)
        JOIN '{bundle}/queries.parquet' q USING (assignment_id) JOIN '{bundle}/segments.parquet' a ON a.segment_id = c.segment_a
        JOIN '{bundle}/trajectories.parquet' t USING (episode_id)"""
    rows = duckdb.sql(query).fetchall()
    assert len(rows) == meta["counts"]["comparisons"]
    assert all(r[2] == r[3] for r in rows)
    answers = {r[0]: r[1] for r in rows}
    assert all(answers[k] == v for k, v in known.items())


def check_datasets():
    from datasets import get_dataset_config_names, load_dataset

    from huggingface_hub import DatasetCard

    card = DatasetCard.load(bundle / "README.md", ignore_metadata_errors=False)
    assert card.data.license == "cc-by-4.0" and card.data.pretty_name == meta["title"] and card.data.task_categories == ["reinforcement-learning"], card.data
    assert card.data.size_categories == ["n<1K"] and "Mary" in card.text and "12 € an hour." in card.text
    names = get_dataset_config_names(str(bundle))
    assert names[0] == "comparisons" and "trajectories" in names and len(names) >= 8, names
    for name in names:
        assert len(load_dataset(str(bundle), name, split="train")) == meta["rows"][name + ".parquet"]
    t = load_dataset(str(bundle), split="train")
    answers = dict(zip(t["label_id"], t["prob_a"]))
    for label, choice in known.items():
        assert answers[label] == {"a": 1, "b": 0, "equal": 0.5}[choice]
    lines = [json.loads(l) for l in (bundle / "clips" / "metadata.jsonl").read_text().splitlines()]
    clips = load_dataset("imagefolder", data_dir=str(bundle / "clips"), split="train")
    with clips[0]["image"] as image:  # else its file stays open
        assert image.size == (4, 4)
    assert len(clips) == len(lines) == meta["counts"]["clips"] and set(clips["segment_id"]) == {l["segment_id"] for l in lines}


def check_minari():
    import minari
    import numpy as np
    import pyarrow.parquet as pq

    sys.path.insert(0, str(bundle / "python"))
    import tiebreak_bundle

    tiebreak_bundle.minari(bundle, "tiebreak/point-v0")
    d = minari.load_dataset("tiebreak/point-v0")  # as another program does
    m = d.storage.metadata
    assert m["author"] == {"Mary", "Bob"} and m["author_email"] == {"mary@example.org"} and m["code_permalink"] == meta["program"], m
    assert d.env_spec.id == "tiebreak/point-v0" and d.env_spec.kwargs["features"] == meta["features"] and "Licence: CC-BY-4.0" in m["description"]
    rows = pq.read_table(bundle / "trajectories.parquet").to_pylist()
    assert d.total_episodes == len(rows) and d.total_steps == sum(r["n_steps"] for r in rows)
    for episode, row in zip(d.iterate_episodes(), rows):
        assert np.array_equal(episode.observations, np.array(row["observations"], np.float32))
        assert np.array_equal(episode.actions, np.array(row["actions"], np.float32))
        assert episode.terminations[-1] == row["terminated"] and episode.truncations[-1] != row["terminated"]
        assert np.array_equal(episode.infos["features"][1:], np.array(row["features"])) and not episode.rewards.any()


def comparisons():
    import pandas as pd

    return pd.read_parquet(bundle / "comparisons.parquet")


def check_imitation():
    import numpy as np
    import pandas as pd
    from imitation.data import types

    sys.path.insert(0, str(bundle / "python"))
    import tiebreak_bundle

    pairs, preferences = tiebreak_bundle.imitation(bundle)
    assert all(isinstance(f, types.TrajectoryWithRew) for pair in pairs[:10] for f in pair)
    t, n = comparisons(), 0
    segments = pd.read_parquet(bundle / "segments.parquet").set_index("segment_id")
    episodes = pd.read_parquet(bundle / "trajectories.parquet").set_index("episode_id")
    assert len(pairs) == len(preferences) == len(t) and preferences.dtype == np.float32
    for (first, second), p, row in zip(pairs, preferences, t.itertuples()):
        s = segments.loc[row.segment_a]
        whole = np.stack(episodes.loc[s.episode_id].observations)
        assert np.array_equal(first.obs, whole[s.start_step : s.end_step + 1])
        if row.label_id in known:
            assert p == {"a": 1.0, "b": 0.0, "equal": 0.5}[known[row.label_id]]  # 1.0: the first
            n += 1
    assert n == len(known)


def check_ipl():
    import numpy as np

    a, t = np.load(bundle / "adapters" / "ipl.npz"), comparisons()
    assert a["obs_1"].shape == a["obs_2"].shape == (len(t), 10, 4) and a["action_1"].shape == (len(t), 10, 2) and a["label"].shape == (len(t),)
    labels = dict(zip(t.label_id[a["comparison"]], a["label"]))
    for label, choice in known.items():
        assert labels[label] == {"a": 0.0, "b": 1.0, "equal": 0.5}[choice]  # 1.0: the second


def check_uni_rlhf():
    import numpy as np

    load = lambda name: np.load(bundle / "adapters" / "uni_rlhf" / (name + ".npy"))
    t, ipl = comparisons(), np.load(bundle / "adapters" / "ipl.npz")
    labels = dict(zip(t.label_id[load("comparison")], load("human_label")))
    for label, choice in known.items():
        assert labels[label] == {"a": 0, "b": 1, "equal": -1}[choice]  # 1: the second; -1: equal
    for k in (1, 2):
        assert np.array_equal(load("observations")[load(f"indices_{k}")[:, None] + np.arange(10)], ipl[f"obs_{k}"])
    assert (load("terminals") | load("timeouts")).sum() == meta["counts"]["trajectories"]


def check_trl():
    from datasets import load_dataset
    from trl.data_utils import extract_prompt, is_conversational, unpair_preference_dataset

    d, t = load_dataset("json", data_files=str(bundle / "adapters" / "trl.jsonl"), split="train"), comparisons()
    assert len(d) == meta["counts"]["comparisons"] - meta["counts"]["ties"] and not is_conversational(d[0])
    by = {row["label_id"]: row for row in d}
    t = t.set_index("label_id")
    for label, choice in known.items():
        if choice != "equal":
            assert by[label]["chosen_segment"] == t.loc[label, "segment_" + choice]
        else:
            assert label not in by
    e = extract_prompt({"chosen": d[0]["chosen"], "rejected": d[0]["rejected"]})
    assert set(e) == {"prompt", "chosen", "rejected"} and e["prompt"] + e["chosen"] == d[0]["chosen"]
    u = unpair_preference_dataset(d.select_columns(["chosen", "rejected"]).map(extract_prompt))
    assert len(u) == 2 * len(d) and sum(u["label"]) == len(d)


for name in sys.argv[3:]:
    globals()["check_" + name]()
    print("ok", name, flush=True)
