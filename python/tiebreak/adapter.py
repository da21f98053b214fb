"""From the Gymnasium interface to the requests of Tiebreak."""

import base64
import inspect
import math
import re

import numpy as np

from .limits import MAX_FEATURES, SettingsError, check_actions, check_happenings, check_hello, number, whole
from .png import encode_png

PROTOCOL = 1


class Adapter:
    """One environment and what is known of it. Its methods are the requests of the protocol."""

    def __init__(
        self, make_env, *, features=None, happens=None, happenings=None, scene=None, save=None, restore=None, name=None, version="1", title=None, description=None,
        moment=None, horizon=None, step_seconds=None, discount=None, clip_steps=None, playback=None, end_seconds=None,
        prior_scale=None, action_low=None, action_high=None,
    ):
        if (save is None) != (restore is None):
            raise SettingsError("give both save and restore, or none of them")
        if (happens is None) != (happenings is None):
            raise SettingsError("give both happens, a function that returns a name, and happenings, the dict of the names, or none of them")
        self.env = make_env()
        self.happens, self.happenings = happens, None if happenings is None else check_happenings(happenings)
        self.features, self.scene, self.save_state, self.restore_state = features, scene, save, restore
        self.settings = {
            "title": title, "description": description, "moment": moment,
            "clip_steps": clip_steps if clip_steps is None else whole("clip_steps", clip_steps),
        }
        for key, value in (("discount", discount), ("playback", playback), ("end_seconds", end_seconds)):
            self.settings[key] = value if value is None else number(key, value)
        self.prior_scale, self.version = prior_scale, str(version)
        self.name = name or _plain(getattr(getattr(self.env, "spec", None), "id", None) or type(self.env).__name__)
        self.horizon, self.step_seconds = self._horizon(horizon), self._step_seconds(step_seconds)
        self.actions = _actions(self.env.action_space, action_low, action_high)
        check_actions(self.actions.described)  # before one is made
        self.observe = _observations(self.env.observation_space)
        self.steps, self.last = 0, None
        self.state_size = None  # numbers of a saved state, once it is known
        self.names = self._feature_names()

    def _horizon(self, given):
        found = getattr(getattr(self.env, "spec", None), "max_episode_steps", None) if given is None else given
        if found is None:
            found = getattr(getattr(self.env, "unwrapped", self.env), "max_steps", None)  # of MiniGrid
        if found is None:
            raise SettingsError("the environment does not say how long its episodes are: give horizon, in steps")
        return whole("horizon", found)

    def _step_seconds(self, given):
        if given is not None:
            return number("step_seconds", given)
        inner = getattr(self.env, "unwrapped", self.env)
        dt = getattr(inner, "dt", None)
        if isinstance(dt, (int, float)) and dt > 0:
            return float(dt)
        rate = (getattr(self.env, "metadata", None) or {}).get("render_fps")
        if rate:
            return 1 / float(rate)
        raise SettingsError("the environment does not say how long a step is: give step_seconds")

    def _feature_names(self):
        """Play a step to learn which features there are."""
        self.reset(0)
        named = self._features(self.actions.middle(), *self._advance(self.actions.middle()))
        return list(named)

    # The requests.

    def hello(self):
        """Return what the environment is. Raise SettingsError if Tiebreak would refuse it."""
        said = {
            "protocol": PROTOCOL, "name": self.name, "version": self.version, "observation": self.observe.size,
            "action": self.actions.described, "features": self.names, "horizon": self.horizon, "step_seconds": self.step_seconds,
            "draws": "scene" if self.scene else "picture",
        }
        said.update({key: value for key, value in self.settings.items() if value is not None})
        if self.prior_scale is not None:
            said["prior_scale"] = self._prior_scale()
        if self.happens:
            said["happens"] = [{"happens": name, "useless": useless} for name, useless in self.happenings.items()]
        if self.save_state:
            self.reset(0)
            said["state"] = len(self.save()["state"])
        check_hello(said)
        return said

    def _prior_scale(self):
        scale = self.prior_scale
        if isinstance(scale, dict):
            if set(scale) != set(self.names):
                raise SettingsError(f"prior_scale is of {list(scale)}, and the features are {self.names}: give one for each")
            scale = [scale[n] for n in self.names]
        return [number("prior_scale", v) for v in np.ravel(scale).tolist()]

    def reset(self, seed):
        observation, _ = self.env.reset(seed=int(seed))
        self.steps, self.last = 0, observation
        return {"observation": self.observe(observation)}

    def step(self, action):
        action = self.actions.read(action)
        after, info, terminated, truncated = self._advance(action)
        features = self._features(action, after, info, terminated, truncated)
        if list(features) != self.names:
            raise SettingsError(f"features returned {list(features)}, at first {self.names}")
        happens = self._happens(action, after, info)
        self.last = after
        self.steps += 1
        return {
            "observation": self.observe(after), "features": [float(v) for v in features.values()],
            "terminated": bool(terminated), "truncated": bool(truncated) and self.steps >= self.horizon and not terminated, **happens,
        }

    def save(self):
        if not self.save_state:
            raise ValueError("this environment saves no states")
        own = np.ravel(np.asarray(self.save_state(self.env), float)).tolist()
        state = [float(self.steps), *self.observe.keep(self.last), *own]
        self.state_size = len(state)
        return {"state": state}

    def restore(self, state):
        """Return to a state: the steps before it, the last observation, and what save returned.

        The next step needs all three: its features are of the last observation too, and its number says whether the episode was cut short.
        """
        if not self.restore_state:
            raise ValueError("this environment restores no states")
        state = np.asarray(state, float)
        if self.state_size is None:
            self.save()
        if state.shape != (self.state_size,):
            raise ValueError(f"a state has {self.state_size} numbers here, not {state.size}: it is of another environment, or of an earlier version of it or of this package")
        own = 1 + self.observe.kept
        self.restore_state(self.env, state[own:])
        self.steps, self.last = int(state[0]), self.observe.back(state[1:own], self.last)
        return {}

    def draw(self):
        if self.scene:
            return {"scene": self.scene(self.env)}
        picture = self.env.render()
        if picture is None:
            raise SettingsError('render() returned nothing: make the environment with render_mode="rgb_array"')
        try:
            return {"picture": base64.b64encode(encode_png(picture)).decode("ascii")}
        except ValueError as wrong:
            raise SettingsError(f"render() returned what is no picture: {wrong}") from None

    def close(self):
        self.env.close()
        return {}

    def _advance(self, action):
        after, _reward, terminated, truncated, info = self.env.step(action)  # the reward is what is to be learnt
        if truncated and not terminated and self.steps + 1 < self.horizon:
            raise SettingsError(f"the environment cut the episode short after {self.steps + 1} steps: give horizon={self.steps + 1}, or make it without a time limit")
        return after, info, terminated, truncated

    def _features(self, action, after, info, terminated, _truncated):
        if self.features is None:
            return self._default_features(action, after, terminated)
        found = self.features(self.last, action, after, info)
        if not isinstance(found, dict):
            raise SettingsError("features must return a dict from names to numbers")
        return found

    def _happens(self, action, after, info):
        """Return what happens in a step, as a part of its result."""
        name = self.happens and self.happens(self.last, action, after, info)
        if not name:
            return {}
        if name not in self.happenings:
            raise SettingsError(f"happens returned {name!r:.80}, and happenings are {list(self.happenings)}: add it there")
        return {"happens": name}

    def _default_features(self, action, after, terminated):
        """Return the numbers of the observation; where there are too many and actions are discrete, which action was taken and whether the episode ended."""
        if self.observe.size <= MAX_FEATURES or not 2 <= self.actions.described.get("n", 0) < MAX_FEATURES:
            return {f"Observation {i + 1}": v for i, v in enumerate(self.observe(after))}
        taken = {f"Action {k + 1} of {self.actions.n}": float(k == action - self.actions.start) for k in range(self.actions.n)}
        return {**taken, "Reached an end": float(terminated)}


class _Discrete:
    def __init__(self, space):
        self.n, self.start = int(space.n), int(getattr(space, "start", 0))
        self.described = {"n": self.n}

    def read(self, action):
        if not isinstance(action, int) or not 0 <= action < self.n:
            raise ValueError(f"there is no action {action!r}")
        return self.start + action

    def middle(self):
        return self.start


class _Box:
    def __init__(self, space, low, high):
        self.shape, self.dtype = space.shape, space.dtype
        self.low = self._bound("action_low", space.low if low is None else low)
        self.high = self._bound("action_high", space.high if high is None else high)
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise SettingsError("its actions have no bounds: give action_low and action_high")
        self.described = {"low": self.low.tolist(), "high": self.high.tolist()}

    def _bound(self, name, given):
        try:
            return np.ravel(np.broadcast_to(given, self.shape)).astype(float)
        except (TypeError, ValueError):
            raise SettingsError(f"{name} must be a number, or numbers of the shape {self.shape}, not {given!r:.60}") from None

    def read(self, action):
        action = np.asarray(action, float)
        if action.shape != self.low.shape:
            raise ValueError(f"an action has {self.low.size} numbers")
        return np.clip(action, self.low, self.high).reshape(self.shape).astype(self.dtype)

    def middle(self):
        return self.read((self.low + self.high) / 2)


def _is_discrete(space):
    """Report whether a space is Discrete: MultiBinary has an n too."""
    return np.ndim(getattr(space, "n", ())) == 0 and getattr(space, "shape", ()) == ()


def _actions(space, low, high):
    if _is_discrete(space):
        return _Discrete(space)
    if hasattr(space, "low"):
        return _Box(space, low, high)
    raise SettingsError(f"actions of {type(space).__name__} are not known: use an environment whose actions are Box or Discrete")


class _Numbers:
    """Observations that are arrays, as lists of numbers."""

    def __init__(self, size):
        self.size = self.kept = size  # numbers of an observation, and of one in a saved state

    def __call__(self, observation):
        row = np.ravel(np.asarray(observation, float))
        if row.size != self.size:
            raise SettingsError(f"an observation has {row.size} numbers, its space has {self.size}")
        return row.tolist()

    def keep(self, observation):
        """Return an observation as numbers of a saved state."""
        return self(observation)

    def back(self, numbers, like):
        """Return the observation that was kept, of the shape and type of another."""
        like = np.asarray(like)
        return numbers.reshape(like.shape).astype(like.dtype)


class _OneHot:
    """Observations that are one of size whole numbers, as size numbers: 1 in its place, 0 in the others."""

    def __init__(self, size, first):
        self.size, self.first, self.kept = size, first, 1

    def __call__(self, observation):
        row = np.zeros(self.size)
        row[int(observation) - self.first] = 1
        return row.tolist()

    def keep(self, observation):
        return [float(observation)]

    def back(self, numbers, like):
        return int(numbers[0])


class _Parts:
    """Observations of several parts, one after another; key and observations of each. Text is left out."""

    def __init__(self, parts):
        self.parts = parts
        self.size, self.kept = sum(p.size for _, p in parts), sum(p.kept for _, p in parts)

    def __call__(self, observation):
        return [v for key, part in self.parts for v in part(observation[key])]

    def keep(self, observation):
        return [v for key, part in self.parts for v in part.keep(observation[key])]

    def back(self, numbers, like):
        found, at = dict(like) if isinstance(like, dict) else dict(enumerate(like)), 0
        for key, part in self.parts:
            found[key] = part.back(numbers[at : at + part.kept], found[key])
            at += part.kept
        if isinstance(like, np.ndarray):
            return np.array([found[k] for k in sorted(found)], like.dtype)
        return found if isinstance(like, dict) else tuple(found[k] for k in sorted(found))


def _observations(space):
    if _is_discrete(space):
        return _OneHot(int(space.n), int(getattr(space, "start", 0)))
    if hasattr(space, "low"):
        return _Numbers(int(math.prod(space.shape)))
    if hasattr(space, "nvec"):
        first = np.ravel(np.broadcast_to(getattr(space, "start", 0), np.shape(space.nvec)))
        if np.ndim(space.nvec) == 1:
            return _Parts([(k, _OneHot(int(n), int(first[k]))) for k, n in enumerate(space.nvec)])
        return _Numbers(int(np.size(space.nvec)))
    if hasattr(space, "n"):  # MultiBinary
        return _Numbers(int(np.prod(space.n)))
    parts = getattr(space, "spaces", None)
    if parts is not None:
        parts = parts.items() if hasattr(parts, "items") else enumerate(parts)
        known = _Parts([(key, _observations(part)) for key, part in parts if not hasattr(part, "character_set") and type(part).__name__ != "MissionSpace"])
        if known.size:
            return known
    raise SettingsError(f"observations of {type(space).__name__} are not known: wrap the environment in a gymnasium.ObservationWrapper whose observations are a Box, Discrete, MultiDiscrete, MultiBinary, or a Dict or Tuple of these")


def _plain(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "environment"


SETTINGS = [p for p in inspect.signature(Adapter.__init__).parameters if p not in ("self", "make_env")]
