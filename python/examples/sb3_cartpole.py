"""Stable-Baselines3 learns CartPole by what people prefer: PPO on a reward that is fetched, while clips of it are compared.

    pip install stable-baselines3 ./python
    python sb3_cartpole.py --token TOKEN              # scope upload; people answer in the browser
    python sb3_cartpole.py --token TOKEN --person TOKEN --session ID   # a program of scope label answers

Needs loop_numpy.py beside it.
"""

import argparse
import math

import gymnasium
import numpy as np
from loop_numpy import people, program
from stable_baselines3 import PPO

import tiebreak
from tiebreak.wrapper import RewardWrapper

FEATURES = ["Stands", "Pole upright", "Cart in the middle"]
SCALE = [0.1, 0.1, 0.1]


def features(observation, action, after, info):
    """What people may care about in a step."""
    return [1.0, math.cos(after[2] / 0.21 * math.pi / 2), 1 - abs(after[0]) / 2.4]  # it has fallen at 0.21 rad


def scene(observation):
    """Draws a state: a cart on its rail, and the pole."""
    x, angle = float(observation[0]), float(observation[2])
    rail = {"kind": "line", "paint": "mark", "size": 0.02, "points": [-2.4, 0, 2.4, 0]}
    cart = {"kind": "line", "paint": "other", "size": 0.2, "points": [x - 0.2, 0, x + 0.2, 0]}
    pole = {"kind": "line", "paint": "agent", "size": 0.08, "points": [x, 0, x + math.sin(angle), math.cos(angle)]}
    return {"camera": {"x": 0, "y": 0.4, "w": 5, "h": 2.2}, "static": [rail], "moving": [cart, pole]}


def clip(env, act, seed, most=80):
    """Plays the beginning of an episode, as session.upload takes it."""
    seen, done, phi, over = [env.reset(seed=seed)[0]], [], [], False
    while not over and len(done) < most:
        done.append(act(seen[-1]))
        after, _, over, _, info = env.step(done[-1])
        phi.append(features(seen[-1], done[-1], after, info))
        seen.append(after)
    return {"observations": seen, "actions": done, "features": phi, "scenes": [scene(s) for s in seen], "step_seconds": 0.04, "terminated": over}


def evaluate(act, episodes=10):
    """Returns the mean true return: the steps for which the pole stands, at most 500."""
    env = gymnasium.make("CartPole-v1")
    return np.mean([len(clip(env, act, 10_000 + k, most=500)["actions"]) for k in range(episodes)])


def train(session, answer, seed, rounds=4, clips=10, answers=15, steps=6144):
    """Runs the loop and returns what acts, before and after."""
    env = RewardWrapper(gymnasium.make("CartPole-v1"), None, features)
    agent = PPO("MlpPolicy", env, seed=seed, n_steps=1024, device="cpu")
    act = lambda seen: int(agent.predict(seen, deterministic=False)[0])  # noqa: E731
    plain, sums, before = gymnasium.make("CartPole-v1"), {}, evaluate(act)
    for k in range(rounds):
        made = [clip(plain, act, 1000 * seed + 100 * k + n) for n in range(clips)]
        sums |= {id: np.sum(c["features"], axis=0) for id, c in zip(session.upload(made), made)}
        answer(sums, (k + 1) * answers)
        env.model = session.reward_model()
        agent.learn(steps, reset_num_timesteps=False)
        print(f"after {session.info()['answers']} answers: reward {dict(zip(FEATURES, env.model.mean.round(2).tolist()))}")
    return before, evaluate(act)


def longer(a, b):
    """The answer of a person who wants the pole to stand: sums of the features of two clips in, "a", "b" or "equal" out."""
    return "equal" if a[0] == b[0] else "a" if a[0] > b[0] else "b"


if __name__ == "__main__":
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, more in {"url": {"default": "http://127.0.0.1:8080"}, "token": {"required": True}, "session": {}, "person": {}, "seed": {"type": int, "default": 1}}.items():
        args.add_argument("--" + name, **more)
    args = args.parse_args()
    client = tiebreak.Client(args.url, args.token)
    session = client.session(args.session) if args.session else client.create("Balance the pole", FEATURES, prior_scale=SCALE)
    answer = program(tiebreak.Client(args.url, args.person).session(session.id), longer) if args.person else people(session)
    print("true return before and after: {:.0f}, {:.0f}".format(*train(session, answer, args.seed)))
