"""Records trajectories of the project's models with the Python package mujoco.

Each model starts from its default state, a little disturbed, and is played with
sines as controls. The file has positions and velocities after 10 and 100 steps
of the engine, the same from a start that differs by 1e-10 (its largest difference is
the sensitivity), and the moments of contact.

For a version, in this folder, with nothing else of the project:

    python3 -m venv /tmp/v && /tmp/v/bin/pip install mujoco==3.3.7
    /tmp/v/bin/python record.py >versions/3.3.7.json

TestVersions of ../versions_test.go compares the engine that it finds with the file
of the same version, and docs/mujoco.md has the table of how versions differ.
"""

import json
import math
import pathlib
import sys

import mujoco

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
STEPS = (10, 100)


def play(model, disturbance):
    """Returns positions, velocities and the number of contacts at STEPS."""
    data = mujoco.MjData(model)
    for i in range(model.nv):
        data.qvel[i] = 0.05 * math.cos(1.0 + i) + disturbance
    mujoco.mj_forward(model, data)
    states = []
    for k in range(max(STEPS)):
        for i in range(model.nu):
            data.ctrl[i] = 0.3 * math.sin(0.1 * k + i)
        mujoco.mj_step(model, data)
        if k + 1 in STEPS:
            states.append({"step": k + 1, "qpos": data.qpos.tolist(), "qvel": data.qvel.tolist(), "contacts": int(data.ncon)})
    return states


def main():
    models = {}
    for path in sorted(MODELS.glob("*.xml")):
        model = mujoco.MjModel.from_xml_path(str(path))
        states, beside = play(model, 0.0), play(model, 1e-10)
        for a, b in zip(states, beside):
            pairs = zip(a["qpos"] + a["qvel"], b["qpos"] + b["qvel"])
            a["sensitivity"] = float("%.2g" % max(abs(x - y) for x, y in pairs))
        models[path.name] = states
    json.dump({"version": mujoco.mj_versionString(), "models": models}, sys.stdout, separators=(",", ":"))
    print()


main()
