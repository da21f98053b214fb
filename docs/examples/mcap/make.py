"""Writes six short takes of a pointer as MCAP files of ROS 2, by the real mcap packages, for convert.py.

    python make.py takes
"""

import io
import pathlib
import sys

import numpy as np
from mcap_ros2.writer import Writer
from PIL import Image

TIME = "int32 sec\nuint32 nanosec\n"
HEADER = "builtin_interfaces/Time stamp\nstring frame_id\n"
NESTED = f"================================================================================\nMSG: std_msgs/Header\n{HEADER}" \
    f"================================================================================\nMSG: builtin_interfaces/Time\n{TIME}"
JOINTS = f"std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n{NESTED}"
PICTURE = f"std_msgs/Header header\nstring format\nuint8[] data\n{NESTED}"
COMMAND = "float64[] data\n"


def take(path, angle, speed, frames=20):
    """One take: pictures of two cameras 20 times a second, joints 50 times, commands 10 times."""
    with open(path, "wb") as f, Writer(f) as w:
        joints = w.register_msgdef("sensor_msgs/msg/JointState", JOINTS)
        picture = w.register_msgdef("sensor_msgs/msg/CompressedImage", PICTURE)
        command = w.register_msgdef("std_msgs/msg/Float64MultiArray", COMMAND)

        def header(t):
            return {"stamp": {"sec": t // 10**9, "nanosec": t % 10**9}, "frame_id": ""}

        for k in range(frames * 50 // 20):
            t = 10**9 + k * 10**9 // 50
            at = angle + speed * k / 50
            w.write_message("/joint_states", joints, {"header": header(t), "name": ["tip"], "position": [at], "velocity": [speed]}, t, t)
        for k in range(frames):
            t = 10**9 + k * 10**9 // 20
            at = angle + speed * k / 20
            for camera, size in (("/front/compressed", (64, 48)), ("/side/compressed", (48, 48))):
                pixels = np.full((size[1], size[0], 3), 230, np.uint8)
                x = int((0.5 + 0.4 * np.sin(at)) * (size[0] - 8))
                pixels[16:32, x : x + 8] = (200, 40, 40)
                out = io.BytesIO()
                Image.fromarray(pixels).save(out, "png")
                w.write_message(camera, picture, {"header": header(t), "format": "png", "data": out.getvalue()}, t, t)
            if k % 2 == 0:
                w.write_message("/command", command, {"data": [speed]}, t, t)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir()
    for k in range(6):
        take(out / f"take_{k}.mcap", 0.2 * k, (1.0, 2.5)[k % 2])
    (out / "episodes.csv").write_text("file,policy,task\n" + "".join(f"take_{k}.mcap,{('slow', 'fast')[k % 2]},turn\n" for k in range(6)))


if __name__ == "__main__":
    main()
