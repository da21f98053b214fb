"""Rollouts of a simulator of your own, written with numpy alone: a ball that is thrown, by three policies."""
import json, os, subprocess, sys
import numpy as np

out, dt, steps, size = sys.argv[1], 1 / 30, 90, 96
video = "--video" in sys.argv  # frames as MP4, by ffmpeg; else as an array
rng = np.random.default_rng(1)
os.makedirs(out, exist_ok=True)

def picture(x, y):
    img = np.full((size, size, 3), 245, np.uint8)
    img[88:] = (90, 140, 90)  # the ground
    yy, xx = np.mgrid[:size, :size]
    img[(xx - 8 - 80 * x) ** 2 + (yy - 84 + 70 * y) ** 2 < 16] = (200, 60, 40)
    return img

def rollout(push):
    state, obs, acts, phi = np.array([0.0, 0.5, 0.3, 0.0]), [], [], []
    obs.append(state.copy())
    for _ in range(steps):
        a = np.clip(push(state) + 0.3 * rng.normal(size=2), -3, 3)
        x, y, vx, vy = state
        vx, vy = vx + a[0] * dt, vy + (a[1] - 1) * dt
        x, y = x + vx * dt, y + vy * dt
        if y < 0: y, vy = -y, -0.8 * vy
        if not 0 < x < 1: x, vx = min(max(x, 0), 1), -vx
        state = np.array([x, y, vx, vy])
        obs.append(state.copy()); acts.append(a); phi.append([vx * dt, y * dt, (a @ a) * dt])
    return np.array(obs, np.float32), np.array(acts, np.float32), np.array(phi)

policies = {"drops": lambda s: np.zeros(2), "flies": lambda s: np.array([0.2, 1 + 3 * (0.6 - s[1]) - s[3]]), "rushes": lambda s: np.array([1.5, 0.0])}
listed = []
for name, policy in policies.items():
    for k in range(4):
        obs, acts, phi = rollout(policy)
        frames = np.stack([picture(x, y) for x, y in obs[:, :2]])  # one more than steps
        arrays = dict(observations=obs, actions=acts, features=phi)
        if video:
            ffmpeg = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size}x{size}", "-r", "30", "-i", "-", "-pix_fmt", "yuv420p", f"{out}/{name}-{k}.mp4"]
            subprocess.run(ffmpeg, input=frames.tobytes(), check=True)
        else:
            arrays["frames"] = frames
        np.savez(f"{out}/{name}-{k}.npz", **arrays)
        listed.append({"name": f"{name}-{k}", "policy": name})

json.dump({"format": "tiebreak.rollouts", "version": 1, "title": "A ball", "step_seconds": dt, "clip_steps": 45,
           "features": ["Way to the right", "Height", "Effort"], "rollouts": listed}, open(f"{out}/rollouts.json", "w"), indent=1)
