"""The environment of a bundle as Gymnasium knows environments: what it is called, its spaces, its layout and its features.

It is a specification for data sets, such as Minari's. It cannot act: a bundle holds recordings. Tiebreak has the environment itself.
"""

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box


class Recorded(gym.Env):
    def __init__(self, environment, layout_seed, observations, actions, features):
        self.environment, self.layout_seed, self.features = environment, layout_seed, features
        self.observation_space = Box(-np.inf, np.inf, (observations,), np.float32)
        self.action_space = Box(-np.inf, np.inf, (actions,), np.float32)

    def reset(self, *, seed=None, options=None):
        raise NotImplementedError(f"A bundle has recordings of {self.environment}, not the environment: run it in Tiebreak.")

    def step(self, action):
        raise NotImplementedError(f"A bundle has recordings of {self.environment}, not the environment: run it in Tiebreak.")
