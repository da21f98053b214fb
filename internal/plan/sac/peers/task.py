"""A robot of Tiebreak with its true reward as a Gymnasium environment.

The test binary of internal/plan/sac serves it over a pipe, so that both programs
train in the same simulation (see README.md).
"""

import os
import subprocess

import gymnasium
import numpy as np

WITHOUT_TIME = ("inverted-pendulum", "inverted-double-pendulum")


class Task(gymnasium.Env):
    """Observations end with (T - t)/T, but for the pendulums."""

    def __init__(self, binary, task):
        self._served = subprocess.Popen(
            [binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "TIEBREAK_SERVE_TASK": task})
        self._obs, self._act, self._horizon = np.frombuffer(self._read(3), np.int64)
        bounds = self._read(2 * self._act)
        self._timed = task not in WITHOUT_TIME
        self.action_space = gymnasium.spaces.Box(
            bounds[:self._act].astype(np.float32), bounds[self._act:].astype(np.float32))
        self.observation_space = gymnasium.spaces.Box(
            -np.inf, np.inf, (self._obs + self._timed,), np.float32)
        self._step = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._step = 0
        self._send(np.array([0, self.np_random.integers(1 << 62)], np.uint64))
        return self._observed(self._read(self._obs)), {}

    def step(self, action):
        self._step += 1
        action = np.clip(action.astype(np.float64), self.action_space.low, self.action_space.high)
        self._send(np.array([1], np.uint64), action)
        reply = self._read(self._obs + 2)
        return self._observed(reply[:-2]), reply[-2], False, bool(reply[-1]), {}

    def close(self):
        self._served.stdin.close()
        self._served.wait()

    def _observed(self, obs):
        obs = obs.astype(np.float32)
        if self._timed:
            obs = np.append(obs, np.float32((self._horizon - self._step) / self._horizon))
        return obs

    def _send(self, *arrays):
        self._served.stdin.write(b"".join(a.tobytes() for a in arrays))
        self._served.stdin.flush()

    def _read(self, n):
        return np.frombuffer(self._served.stdout.read(8 * int(n)))
