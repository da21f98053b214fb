"""Writes testdata/updates.json: three updates of soft actor-critic in PyTorch, in float64.

usage: vectors.py > ../testdata/updates.json

Parameters are lists in the order of torch's state_dict, layer by layer.
"""

import json
import math

import torch
from torch import nn
from torch.nn.functional import mse_loss, softplus

OBS, ACT, HIDDEN, BATCH, UPDATES = 3, 2, 8, 6, 3
RATE, DISCOUNT, POLYAK = 1e-2, 0.9, 0.05


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                         nn.Linear(HIDDEN, outputs))


def flat(net):
    return [x for p in net.parameters() for x in p.detach().flatten().tolist()]


def act(actor, obs, noise):
    mean, log_std = actor(obs).chunk(2, 1)
    log_std = log_std.clamp(-20, 2)
    u = mean + log_std.exp() * noise
    density = -noise ** 2 / 2 - log_std - math.log(2 * math.pi) / 2 - 2 * (math.log(2) - u - softplus(-2 * u))
    return torch.tanh(u), density.sum(1, keepdim=True)


def rounded(*shape):
    """Normal numbers that float32 holds."""
    return torch.randn(*shape).float().double()


def main():
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    actor, critics, targets = network(OBS, 2 * ACT), [network(OBS + ACT, 1) for _ in "12"], [network(OBS + ACT, 1) for _ in "12"]
    for net in [actor, *critics, *targets]:
        for p in net.parameters():
            p.data = p.data.float().double()
    heat = torch.tensor(0.0, requires_grad=True)
    adams = [torch.optim.Adam(p, lr=RATE) for p in ([heat], [p for q in critics for p in q.parameters()], actor.parameters())]
    out = {"rate": RATE, "discount": DISCOUNT, "polyak": POLYAK, "hidden": HIDDEN, "obs": OBS, "act": ACT, "batch": BATCH,
           "actor": flat(actor), "critics": [flat(q) for q in critics], "targets": [flat(q) for q in targets], "updates": []}
    for _ in range(UPDATES):
        obs, after, reward = rounded(BATCH, OBS), rounded(BATCH, OBS), rounded(BATCH, 1)
        taken, live = torch.tanh(rounded(BATCH, ACT)).float().double(), (torch.rand(BATCH, 1) > 0.3).double()
        noise, after_noise = rounded(BATCH, ACT), rounded(BATCH, ACT)
        chosen, density = act(actor, obs, noise)
        alpha = heat.detach().exp()
        loss = -(heat * (density.detach() - ACT).mean())
        adams[0].zero_grad(), loss.backward(), adams[0].step()
        with torch.no_grad():
            follow, after_density = act(actor, after, after_noise)
            pair = torch.cat([after, follow], 1)
            worth = reward + DISCOUNT * live * (torch.min(*(q(pair) for q in targets)) - alpha * after_density)
        pair = torch.cat([obs, taken], 1)
        loss = sum(mse_loss(q(pair), worth) for q in critics) / 2
        adams[1].zero_grad(), loss.backward(), adams[1].step()
        pair = torch.cat([obs, chosen], 1)
        loss = (alpha * density - torch.min(*(q(pair) for q in critics))).mean()
        adams[2].zero_grad(), loss.backward(), adams[2].step()
        with torch.no_grad():
            for q, t in zip(critics, targets):
                for p, slow in zip(q.parameters(), t.parameters()):
                    slow.lerp_(p, POLYAK)
        out["updates"].append({
            **{name: x.flatten().tolist() for name, x in dict(
                obs=obs, taken=taken, reward=reward, live=live, next=after, noise=noise, nextNoise=after_noise).items()},
            "logAlpha": heat.item(), "actor": flat(actor), "critics": [flat(q) for q in critics],
            "targets": [flat(q) for q in targets]})
    print(json.dumps(json.loads(json.dumps(out), parse_float=lambda x: float(f"{float(x):.9g}"))))


if __name__ == "__main__":
    main()
