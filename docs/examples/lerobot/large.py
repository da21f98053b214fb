"""Writes a large data set of LeRobot v3.0, to measure an import: python large.py FOLDER [EPISODES] [--size 640x480] [--quality 26].

10,000 episodes have 9.6 GB of H.264 in 200 files, and 47.4 GB with the size and the quality above. Pieces of 81 to 120 frames are coded once, 40 for each of
two cameras, and put together in another order for each file, without coding them again. It needs ffmpeg, numpy and pyarrow.
"""

import argparse
import json
import pathlib
import random
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FPS, CAMERAS, PIECES, PER_VIDEO, PER_TABLE, NUMBERS = 30, ["front", "wrist"], 40, 100, 1000, 14
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"


def ffmpeg(*args):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, args)], check=True)


def video(folder, camera, index):
    path = folder / VIDEO_PATH.format(video_key=f"observation.images.{camera}", chunk_index=0, file_index=index)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write_videos(folder, lengths, pieces, size, quality):
    made = folder / "pieces"
    made.mkdir(parents=True)
    for c, camera in enumerate(CAMERAS):
        for k, length in enumerate(lengths):
            source = f"testsrc2=size={size}:rate={FPS},noise=alls=12:allf=t:all_seed={1 + 7 * k + 5000 * c},hue=h={7 * k}"
            ffmpeg("-f", "lavfi", "-i", source, "-frames:v", length, "-c:v", "libx264", "-preset", "ultrafast", "-crf", quality,
                   "-g", "30", "-pix_fmt", "yuv420p", made / f"{camera}-{k}.mp4")
        for n in range(0, len(pieces), PER_VIDEO):
            listed = made / "list"
            listed.write_text("".join(f"file '{camera}-{k}.mp4'\n" for k in pieces[n:n + PER_VIDEO]))
            ffmpeg("-f", "concat", "-i", listed, "-c", "copy", video(folder, camera, n // PER_VIDEO))
    for piece in made.iterdir():
        piece.unlink()
    made.rmdir()


def write_tables(folder, lengths):
    numbers = np.random.default_rng(7)
    first, in_video, rows = 0, 0, []
    for n in range(0, len(lengths), PER_TABLE):
        tables = []
        for episode in range(n, min(len(lengths), n + PER_TABLE)):
            length = lengths[episode]
            in_video = 0 if episode % PER_VIDEO == 0 else in_video
            row = {"episode_index": episode, "length": length, "tasks": [f"Put block {episode % 5} into the box"],
                   "data/chunk_index": 0, "data/file_index": n // PER_TABLE, "dataset_from_index": first, "dataset_to_index": first + length}
            for camera in CAMERAS:
                key = f"videos/observation.images.{camera}/"
                row |= {key + "chunk_index": 0, key + "file_index": episode // PER_VIDEO,
                        key + "from_timestamp": in_video / FPS, key + "to_timestamp": (in_video + length) / FPS}
            rows.append(row)
            tables.append(frames(numbers, episode, first, length))
            first, in_video = first + length, in_video + length
        path = folder / DATA_PATH.format(chunk_index=0, file_index=n // PER_TABLE)
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.concat_tables(tables), path)
    meta = folder / "meta" / "episodes" / "chunk-000"
    meta.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), meta / "file-000.parquet")
    pq.write_table(pa.table({"task_index": list(range(5)), "task": [f"Put block {k} into the box" for k in range(5)]}), folder / "meta" / "tasks.parquet")
    return first


def frames(numbers, episode, first, length):
    def vectors(values):
        return pa.FixedSizeListArray.from_arrays(pa.array(values.astype("float32").ravel()), NUMBERS)
    done = np.zeros(length, bool)
    done[-1] = numbers.random() < 0.3 + 0.1 * (episode % 4)
    return pa.table({
        "observation.state": vectors(np.cumsum(numbers.normal(size=(length, NUMBERS)), 0)), "action": vectors(numbers.normal(size=(length, NUMBERS))),
        "timestamp": (np.arange(length) / FPS).astype("float32"), "frame_index": np.arange(length), "episode_index": np.full(length, episode),
        "index": np.arange(first, first + length), "task_index": np.full(length, episode % 5), "policy": [f"policy-{episode % 4}"] * length, "next.success": done,
    })


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("folder", type=pathlib.Path)
    flags.add_argument("episodes", type=int, nargs="?", default=10_000)
    flags.add_argument("--size", default="320x240", help="pixels of a picture")
    flags.add_argument("--quality", type=int, default=27, help="as ffmpeg's -crf: 1 less makes larger files")
    given = flags.parse_args()
    folder, episodes = given.folder, given.episodes
    width, height = map(int, given.size.split("x"))
    chosen = random.Random(7)
    lengths = [3 * chosen.randint(27, 40) for _ in range(PIECES)]  # of 0.1 s each, so that times of files are exact
    pieces = [chosen.randrange(PIECES) for _ in range(episodes)]
    write_videos(folder, lengths, pieces, given.size, given.quality)
    total = write_tables(folder, [lengths[k] for k in pieces])
    features = {name: {"dtype": "float32", "shape": [NUMBERS], "names": None} for name in ["observation.state", "action"]}
    features |= {f"observation.images.{c}": {"dtype": "video", "shape": [height, width, 3], "names": ["height", "width", "channels"]} for c in CAMERAS}
    info = {"codebase_version": "v3.0", "robot_type": "two arms", "fps": FPS, "total_episodes": episodes, "total_frames": total, "chunks_size": 1000,
            "data_path": DATA_PATH, "video_path": VIDEO_PATH, "features": features}
    (folder / "meta" / "info.json").write_text(json.dumps(info))


main()
