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


def minari(bundle, dataset_id, data_format="hdf5"):
    """Makes a Minari dataset of the trajectories of a bundle and returns it.

    Rewards are 0: a bundle has none. Features are in the infos of each step.
    """
    import minari
    import pyarrow.parquet as pq
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
    boxes = [Box(-np.inf, np.inf, (len(rows[0]),), np.float32) for rows in (buffers[0].observations, buffers[0].actions)]
    return minari.create_dataset_from_buffers(
        dataset_id,
        buffers,
        observation_space=boxes[0],
        action_space=boxes[1],
        algorithm_name="Tiebreak " + meta["session_id"],
        description=f"Trajectories that people compared in the environment {meta['env_id']}. Rewards are 0: none is recorded.",
        data_format=data_format,
    )
