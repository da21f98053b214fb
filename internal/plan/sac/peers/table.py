"""Compares the returns that BenchmarkTasks and sb3.py logged, and prints a table.

usage: table.py BINARY STEPS OURS THEIRS

Means over seeds after STEPS steps, their standard errors, and the number of seeds.
The share is how far the package gets from the return of random actions, in parts of
how far Stable-Baselines3 gets. Nine tenths of that way are wanted; the margin is by how
much the package's mean is above them, and the standard error of that. One seed has no standard
error: none is printed for it, nor for what depends on it.
"""

import math
import statistics
import sys

import numpy as np

from task import Task

TASKS = ("half-cheetah", "hopper", "walker2d", "ant", "swimmer", "inverted-pendulum", "inverted-double-pendulum", "reacher")


def returns(log, steps):
    """Of each task, the returns of its seeds."""
    found = {}
    for line in open(log):
        words = line.split()
        if len(words) == 6 and words[0] in TASKS and words[2] == str(steps):
            found.setdefault(words[0], {})[words[1]] = float(words[3])
    return {task: list(seeds.values()) for task, seeds in found.items()}


def random_return(binary, task):
    env, draw = Task(binary, task), np.random.default_rng(1)
    total, episodes = 0.0, 200 if task == "reacher" else 20
    for k in range(episodes):
        env.reset(seed=k)
        done = False
        while not done:
            _, reward, _, done, _ = env.step(draw.uniform(env.action_space.low, env.action_space.high))
            total += reward
    env.close()
    return total / episodes


def summary(values):
    """Mean and standard error."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return statistics.mean(values), error


def number(x):
    return (f"{x:.1f}" if abs(x) < 100 else f"{x:,.0f}").replace("-", "−")


def measured(mean, error):
    return number(mean) + (f" ± {number(error)}" if math.isfinite(error) else "")


def main(binary, steps, ours, theirs):
    ours, theirs = returns(ours, steps), returns(theirs, steps)
    print("| task | random actions | package sac | Stable-Baselines3 | share of the way | margin |\n|---|---|---|---|---|---|")
    for task in TASKS:
        base = random_return(binary, task)
        (us, our_error), (them, their_error) = summary(ours[task]), summary(theirs[task])
        margin, error = us - base - 0.9 * (them - base), math.hypot(our_error, 0.9 * their_error)
        cells = [task, number(base)]
        cells += [f"{measured(mean, e)} ({len(x[task])})" for x, mean, e in ((ours, us, our_error), (theirs, them, their_error))]
        cells += [f"{(us - base) / (them - base):.2f}" if them > base else "", measured(margin, error)]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
