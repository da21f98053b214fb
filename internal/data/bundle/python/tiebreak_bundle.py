"""Reads the adapters of a Tiebreak bundle into the types of other libraries.

    import tiebreak_bundle
    fragments, preferences = tiebreak_bundle.imitation("bundle")  # imitation.data.types
    dataset = tiebreak_bundle.minari("bundle", "tiebreak/hopper-v0")  # needs minari and h5py

docs/datasets.md of Tiebreak describes the files. Polarity: preferences of imitation are the
probability that the first fragment is preferred.
"""

import json
import pathlib

import numpy as np


def imitation(bundle):
    """Returns pairs of fragments, and the probability that the first is preferred.

    The pairs are imitation's TrajectoryWithRewPair, as PreferenceDataset.push takes them. There is no
    reward in a bundle: rews are NaN.
    """
    from imitation.data import types

    a = np.load(pathlib.Path(bundle) / "adapters" / "imitation.npz")
    ends = np.cumsum(a["lengths"])
    fragments = []
    for k, (end, n) in enumerate(zip(ends, a["lengths"])):
        fragments.append(
            types.TrajectoryWithRew(
                obs=a["obs"][end - n + k : end + k + 1],
                acts=a["acts"][end - n : end],
                infos=None,
                terminal=bool(a["terminal"][k]),
                rews=np.full(n, np.nan, np.float32),
            )
        )
    return [(fragments[i], fragments[j]) for i, j in zip(a["first"], a["second"])], a["preferences"]


def minari(bundle, dataset_id, data_format="hdf5", code_permalink=None):
    """Makes a Minari dataset of the trajectories of a bundle and returns it.

    Rewards are 0: a bundle has none. Features are in the infos of each step. Authors and their addresses are those of the data
    card; Minari warns where none are stated. code_permalink defaults to the name and version of the program that made the bundle.
    The environment specification names the environment, its spaces, layout and features (tiebreak_recorded.py); it cannot act.
    """
    import re

    import minari
    import pyarrow.parquet as pq
    from gymnasium.envs.registration import EnvSpec
    from gymnasium.spaces import Box
    from minari.data_collector import EpisodeBuffer

    bundle = pathlib.Path(bundle)
    meta = json.loads((bundle / "meta.json").read_text())
    buffers = []
    for k, row in enumerate(pq.read_table(bundle / "trajectories.parquet").to_pylist()):
        n = row["n_steps"]
        ends = np.zeros(n, bool)
        ends[-1] = True
        phi = np.array(row["features"])
        buffers.append(
            EpisodeBuffer(
                id=k,
                seed=None,
                observations=np.array(row["observations"], np.float32),
                actions=np.array(row["actions"], np.float32),
                rewards=[0.0] * n,
                terminations=list(ends & row["terminated"]),
                truncations=list(ends & (not row["terminated"])),
                infos={"features": np.concatenate([np.zeros_like(phi[:1]), phi])},
            )
        )
    sizes = [len(rows[0]) for rows in (buffers[0].observations, buffers[0].actions)]
    boxes = [Box(-np.inf, np.inf, (n,), np.float32) for n in sizes]
    name = re.sub("[^A-Za-z0-9_.-]+", "-", meta["env_id"])
    about = {"environment": meta["env_id"], "layout_seed": meta["layout_seed"], "observations": sizes[0], "actions": sizes[1], "features": meta["features"]}
    spec = EnvSpec(id=f"tiebreak/{name}-v0", entry_point="tiebreak_recorded:Recorded", disable_env_checker=True, order_enforce=False, kwargs=about)
    facts = [f"Trajectories that people compared in the environment {meta['env_id']}. Rewards are 0: none is recorded."]
    facts += [f"{k.capitalize()}: {meta[k]}" for k in ("licence", "recruitment", "payment") if meta[k]]
    return minari.create_dataset_from_buffers(
        dataset_id,
        buffers,
        env=spec,
        eval_env=spec,
        author=set(meta["authors"]) or None,
        author_email=set(meta["author_emails"]) or None,
        code_permalink=code_permalink or meta["program"],
        observation_space=boxes[0],
        action_space=boxes[1],
        algorithm_name="Tiebreak " + meta["session_id"],
        description=" ".join(facts),
        data_format=data_format,
    )
