"""Measures updates of soft actor-critic per CPU second in PyTorch on one thread.

usage: update.py HIDDEN SECONDS

What an update does is what Stable-Baselines3 does, with less around it: draws a
batch of 256 from a replay in numpy, fits temperature, twin critics and actor with
Adam, and moves the targets. Observations have 17 numbers, actions 6.
"""

import inspect
import math
import sys
import time

import numpy as np
import torch
from torch import nn

OBS, ACT, BATCH, ROWS = 17, 6, 256, 10_000


def network(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                         nn.Linear(hidden, outputs))


def adam(parameters):
    fused = "fused" in inspect.signature(torch.optim.Adam).parameters and torch.__version__ >= "2."
    return torch.optim.Adam(parameters, lr=3e-4, **({"fused": True} if fused else {}))


class Learner:
    def __init__(self, hidden):
        self.actor = network(OBS, hidden, 2 * ACT)
        self.critics = nn.ModuleList(network(OBS + ACT, hidden, 1) for _ in range(2))
        self.targets = nn.ModuleList(network(OBS + ACT, hidden, 1) for _ in range(2))
        self.targets.load_state_dict(self.critics.state_dict())
        self.heat = torch.zeros(1, requires_grad=True)
        self.adams = [adam([self.heat]), adam(list(self.critics.parameters())), adam(list(self.actor.parameters()))]
        draw = np.random.default_rng(1)
        self.replay = [draw.standard_normal((ROWS, n), np.float32) for n in (OBS, ACT, 1, 1, OBS)]
        self.replay[1] = np.tanh(self.replay[1])
        self.replay[3] = (self.replay[3] > -2.3).astype(np.float32)
        self.draw = draw

    def act(self, obs):
        mean, log_std = self.actor(obs).chunk(2, 1)
        log_std = log_std.clamp(-20, 2)
        noise = torch.randn_like(mean)
        action = torch.tanh(mean + log_std.exp() * noise)
        density = -0.5 * noise ** 2 - log_std - 0.5 * math.log(2 * math.pi) - torch.log(1 - action ** 2 + 1e-6)
        return action, density.sum(1, keepdim=True)

    def step(self, optimiser, loss):
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def update(self):
        rows = self.draw.integers(ROWS, size=BATCH)
        obs, action, reward, live, after = (torch.from_numpy(x[rows]) for x in self.replay)
        chosen, density = self.act(obs)
        alpha = self.heat.exp().detach()
        self.step(self.adams[0], -(self.heat * (density - ACT).detach()).mean())
        with torch.no_grad():
            follow, after_density = self.act(after)
            pair = torch.cat([after, follow], 1)
            worth = torch.min(self.targets[0](pair), self.targets[1](pair)) - alpha * after_density
            worth = reward + 0.99 * live * worth
        pair = torch.cat([obs, action], 1)
        self.step(self.adams[1], 0.5 * sum(nn.functional.mse_loss(q(pair), worth) for q in self.critics))
        for p in self.critics.parameters():
            p.requires_grad_(False)
        pair = torch.cat([obs, chosen], 1)
        self.step(self.adams[2], (alpha * density - torch.min(self.critics[0](pair), self.critics[1](pair))).mean())
        for p in self.critics.parameters():
            p.requires_grad_(True)
        with torch.no_grad():
            targets, critics = list(self.targets.parameters()), list(self.critics.parameters())
            torch._foreach_mul_(targets, 0.995)
            torch._foreach_add_(targets, critics, alpha=0.005)


def main(hidden, seconds):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    learner = Learner(hidden)
    for _ in range(30):
        learner.update()
    began, n = time.process_time(), 0
    while time.process_time() < began + seconds:
        learner.update()
        n += 1
    print(n / (time.process_time() - began))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
