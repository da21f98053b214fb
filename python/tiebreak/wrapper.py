"""Gymnasium tasks whose reward is what people prefer. This module alone needs gymnasium."""

import gymnasium

__all__ = ["RewardWrapper"]


class RewardWrapper(gymnasium.Wrapper):
    """env with the reward of a tiebreak.RewardModel in place of its own, which stands in info["true_reward"].

    features(observation, action, after, info) returns the features of a step, in the order of the session's. model may be replaced at
    any time, as when more answers have come: it counts from the next step on.
    """

    def __init__(self, env, model, features):
        super().__init__(env)
        self.model, self.features, self._last = model, features, None

    def reset(self, **kwargs):
        self._last, info = self.env.reset(**kwargs)
        return self._last, info

    def step(self, action):
        before = self._last
        self._last, true, terminated, truncated, info = self.env.step(action)
        reward = float(self.model(self.features(before, action, self._last, info)))
        return self._last, reward, terminated, truncated, info | {"true_reward": float(true)}
