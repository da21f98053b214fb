"""Writes MCAP files of ROS 2 as a folder of rollouts (docs/rollouts.md): each file is an episode.

    pip install mcap mcap-ros2-support numpy pillow
    python convert.py takes walks --image /front/compressed --image /wrist/compressed --state /joint_states --action /command

TAKES is a folder of .mcap files, or one file. Messages are taken at the ticks of a clock (--rate): of each topic the
last one that was logged by then, from where all topics have begun until the first one ends. Pictures of several
cameras are put beside each other, each as high as the first. A state is all numbers of a message in the order of its
fields, but for its header and what differs in length between messages.

--episodes-csv names a file with the columns file, and any of policy, task and start (docs/rollouts.md), of each take.
"""

import argparse
import bisect
import csv
import io
import json
import pathlib
import re
import sys

import numpy as np
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from PIL import Image

SIDE = 480  # pixels of a camera's longer side, as clips show it
MODES = {"rgb8": ("RGB", "RGB"), "bgr8": ("RGB", "BGR"), "rgba8": ("RGBA", "RGBA"), "bgra8": ("RGBA", "BGRA"), "mono8": ("L", "L")}


def numbers(message):
    """The numbers of a message, in the order of its fields. A header is none of them."""
    if isinstance(message, (bool, int, float, np.number)):
        return [float(message)]
    if isinstance(message, str):
        return []
    if hasattr(message, "__slots__"):
        fields = [getattr(message, name) for name in message.__slots__ if name not in ("header", "stamp")]
        return [x for field in fields for x in numbers(field)]
    return [x for part in message for x in numbers(part)]


def picture(message):
    """The picture of a sensor_msgs/CompressedImage or sensor_msgs/Image, as large as it is."""
    if not hasattr(message, "encoding"):
        return Image.open(io.BytesIO(bytes(message.data))).convert("RGB")
    if message.encoding not in MODES:
        sys.exit(f"pictures with the encoding {message.encoding!r} are not read: use one of {', '.join(MODES)}, or CompressedImage")
    mode, raw = MODES[message.encoding]
    size = (message.width, message.height)
    return Image.frombytes(mode, size, bytes(message.data), "raw", raw, message.step).convert("RGB")


def read(path, topics):
    """The messages of each topic: times (seconds, increasing), and the messages."""
    out = {t: ([], []) for t in topics}
    with open(path, "rb") as f:
        reader = make_reader(f, decoder_factories=[DecoderFactory()])
        for found in reader.iter_decoded_messages(topics=list(topics)):
            times, messages = out[found.channel.topic]
            times.append(found.message.log_time / 1e9)
            messages.append(found.decoded_message)
    for topic, (times, _) in out.items():
        if not times:
            sys.exit(f"{path}: there is no message of {topic}: name a topic of the file, as 'mcap info {path}' lists them")
    return out


def ticks(messages, rate):
    """The moments of the clock, seconds."""
    begin = max(times[0] for times, _ in messages.values())
    end = min(times[-1] for times, _ in messages.values())
    return begin + np.arange(int((end - begin) * rate + 1e-6) + 1) / rate


def at(messages, topic, moments):
    """The messages of a topic that are the last ones at those moments."""
    times, all_of = messages[topic]
    return [all_of[bisect.bisect_right(times, t + 1e-9) - 1] for t in moments]


def rows(path, messages, topics, moments):
    """The numbers of topics at those moments, moments x numbers."""
    found = [[x for topic in topics for x in numbers(m[topic])] for m in
             ({t: of[i] for t, of in ((t, at(messages, t, moments)) for t in topics)} for i in range(len(moments)))] if topics else []
    if any(len(row) != len(found[0]) for row in found):
        sys.exit(f"{path}: messages of {', '.join(topics)} have different numbers of numbers")
    return np.array(found, np.float64).reshape(len(moments), -1) if topics else None


def beside(pictures):
    """One picture of those of several cameras, each as high as the first."""
    high = min(pictures[0].height, round(SIDE * pictures[0].height / max(pictures[0].size)))
    scaled = [p.resize((max(1, round(p.width * high / p.height)), high)) for p in pictures]
    out = Image.new("RGB", (sum(p.width for p in scaled), high))
    x = 0
    for p in scaled:
        out.paste(p, (x, 0))
        x += p.width
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("takes", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path, help="new folder")
    p.add_argument("--image", action="append", required=True, help="topic of pictures; again for more cameras")
    p.add_argument("--state", action="append", default=[], help="topic of numbers that are observed; again for more")
    p.add_argument("--action", action="append", default=[], help="topic of numbers that were commanded; again for more")
    p.add_argument("--rate", type=float, default=10, help="frames a second (default 10)")
    p.add_argument("--clip-seconds", type=float, default=10, help="length of clips (default 10, or the longest take)")
    p.add_argument("--title", default="Takes")
    p.add_argument("--episodes-csv", type=pathlib.Path)
    a = p.parse_args()
    files = sorted(a.takes.glob("*.mcap")) if a.takes.is_dir() else [a.takes]
    if len(files) < 2:
        sys.exit(f"there are fewer than two .mcap files in {a.takes}: people compare takes")
    about = {}
    if a.episodes_csv:
        with open(a.episodes_csv, newline="") as f:
            about = {line.pop("file"): {k: v for k, v in line.items() if k in ("policy", "task", "start") and v} for line in csv.DictReader(f)}
    a.out.mkdir()
    rollouts, longest = [], 1
    for path in files:
        name = re.sub(r"[^A-Za-z0-9._-]", "-", path.stem)[:64]
        messages = read(path, dict.fromkeys(a.image + a.state + a.action))
        moments = ticks(messages, a.rate)
        if len(moments) < 2:
            sys.exit(f"{path}: all topics together last less than one frame at {a.rate:g} a second")
        arrays = {}
        if a.state:
            arrays["observations"] = rows(path, messages, a.state, moments)
        if a.action:
            arrays["actions"] = rows(path, messages, a.action, moments)[:-1]
        np.savez(a.out / f"{name}.npz", **arrays)
        (a.out / name / "frames").mkdir(parents=True)
        cameras = [at(messages, topic, moments) for topic in a.image]
        for i, shown in enumerate(zip(*cameras)):
            beside([picture(m) for m in shown]).save(a.out / name / "frames" / f"{i}.png")
        rollouts.append({"name": name, **about.get(path.name, {})})
        longest = max(longest, len(moments) - 1)
        print(f"{path.name}: {len(moments)} frames")
    manifest = {
        "format": "tiebreak.rollouts", "version": 1, "title": a.title, "step_seconds": 1 / a.rate,
        "clip_steps": max(1, min(600, longest, round(a.clip_seconds * a.rate))), "rollouts": rollouts,
    }
    (a.out / "rollouts.json").write_text(json.dumps(manifest, indent=1))


if __name__ == "__main__":
    main()
