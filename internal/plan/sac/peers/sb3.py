"""Trains Stable-Baselines3's SAC on the robots' true rewards and prints returns.

usage: sb3.py BINARY STEPS SEED HIDDEN STARTS RATE TASK...

Each line of the output: task, seed, steps, mean return of deterministic
episodes, their standard deviation, CPU seconds of the training.
"""

import sys
import time

import numpy as np
import torch
from stable_baselines3 import SAC

from task import Task


def evaluate(model, env, episodes):
    returns = []
    for k in range(episodes):
        obs, _ = env.reset(seed=1_000_000 + k)
        total, done = 0.0, False
        while not done:
            obs, reward, _, done, _ = env.step(model.predict(obs, deterministic=True)[0])
            total += reward
        returns.append(total)
    return np.mean(returns), np.std(returns)


def main(binary, steps, seed, hidden, starts, rate, tasks):
    torch.set_num_threads(1)
    for task in tasks:
        model = SAC("MlpPolicy", Task(binary, task), seed=seed, learning_starts=starts, learning_rate=rate,
                    buffer_size=steps, policy_kwargs={"net_arch": [hidden, hidden]}, device="cpu")
        test = Task(binary, task)
        spent = 0.0
        for done in range(0, steps, 5000):
            began = time.process_time()
            model.learn(min(5000, steps - done), reset_num_timesteps=done == 0)
            spent += time.process_time() - began
            mean, std = evaluate(model, test, 100 if task == "reacher" else 5)
            print(task, seed, model.num_timesteps, f"{mean:.2f} {std:.2f} {spent:.0f}", flush=True)
        test.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:6]), float(sys.argv[6]), sys.argv[7:])
