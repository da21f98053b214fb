"""A trainer in numpy that is taught by people: it uploads clips, waits for answers, fetches the reward, and improves its policy by it.

    python loop_numpy.py --token TOKEN              # scope upload; people answer in the browser
    python loop_numpy.py --token TOKEN --person TOKEN --session ID   # a program of scope label answers

A point is pushed about. It likes to be somewhere, and only people know where: near A, near B, or where pushing costs little.
"""

import argparse
from datetime import datetime, timezone

import numpy as np

import tiebreak

FEATURES = ["Near A", "Near B", "Spares its strength"]
A, B, STEPS = np.array([1.0, 0.5]), np.array([-1.0, 0.5]), 40
WANTED = np.array([1.0, -1.0, 0.2])  # by the program that answers; the trainer does not know it


def play(policies, random):
    """Plays an episode of each linear policy (n, 2, 5); returns observations (n, T+1, 4), actions (n, T, 2) and features (n, T, 3)."""
    place, speed = random.normal(0, 0.3, (len(policies), 2)), np.zeros((len(policies), 2))
    seen, done = [np.hstack([place, speed])], []
    for _ in range(STEPS):
        done.append(np.tanh(np.einsum("nij,nj->ni", policies, np.insert(seen[-1], 4, 1, axis=1))))
        speed = 0.9 * speed + 0.1 * done[-1]
        place = np.clip(place + 0.3 * speed, -2, 2)
        seen.append(np.hstack([place, speed]))
    seen, done = np.stack(seen, 1), np.stack(done, 1)
    near_a, near_b = (np.exp(-((seen[:, 1:, :2] - mark) ** 2).sum(-1)) for mark in (A, B))
    return seen, done, np.stack([near_a, near_b, -(done**2).mean(-1)], -1)


def scenes(seen):
    """Draws an episode (T+1, 4)."""
    marks = [{"kind": "text", "paint": "ink", "size": 0.4, "points": list(at), "text": name} for at, name in ((A, "A"), (B, "B"))]
    camera = {"x": 0, "y": 0, "w": 4.4, "h": 4.4}
    return [{"camera": camera, "static": marks, "moving": [{"kind": "circle", "paint": "agent", "size": 0.1, "points": s[:2].tolist()}]} for s in seen]


def improve(policy, reward, random, steps=60):
    """Moves the policy towards those of its neighbours with more reward: evolution strategies."""
    for _ in range(steps):
        noise = random.normal(size=(32, *policy.shape))
        value = reward(play(policy + 0.3 * noise, random)[2]).sum(axis=1)  # a batch: (32, T)
        policy = policy + 0.3 * np.einsum("n,nij->ij", (value - value.mean()) / (value.std() + 1e-9), noise) / len(noise)
    return policy


def train(session, answer, seed, rounds=3, clips=10, answers=20):
    """Runs the loop and returns the policy. answer(sums, n) has n questions answered, or waits until people have."""
    random = np.random.default_rng(seed)
    policy, sums = np.zeros((2, 5)), {}
    for k in range(rounds):
        seen, done, phi = play(policy + random.normal(size=(clips, *policy.shape)), random)
        ids = session.upload([{"observations": s, "actions": d, "features": p, "scenes": scenes(s), "step_seconds": 0.08} for s, d, p in zip(seen, done, phi)])
        sums.update(zip(ids, phi.sum(axis=1)))
        answer(sums, (k + 1) * answers)
        reward = session.reward_model()
        policy = improve(policy, reward, random)
        print(f"after {session.info()['answers']} answers: reward {dict(zip(FEATURES, reward.mean.round(2).tolist()))}")
    return policy


def people(session):
    """Returns what waits until people have answered."""

    def answer(sums, n):
        print(f"waiting for {n} answers; tiebreak invite new --session {session.id} makes a link for people", flush=True)
        next(row for row in session.follow() if session.info()["answers"] >= n)

    return answer


def program(person, choose):
    """Returns what answers as choose(sum of features of a, of b) says, "a" or "b"; person is the session by a token of scope label."""

    def answer(sums, n):
        while (claim := person.claim())["mine"] < n:
            q = claim["open"][0]
            said = {"id": "answer-" + q["assignment"], "assignment": q["assignment"], "choice": choose(*(sums[c] for c in q["clips"])), "shown_left": q["left"]}
            person.answer(said | {"shown_at": datetime.now(timezone.utc).isoformat(), "instructions_version": claim["instructions_version"]})

    return answer


if __name__ == "__main__":
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, more in {"url": {"default": "http://127.0.0.1:8080"}, "token": {"required": True}, "session": {}, "person": {}, "seed": {"type": int, "default": 1}}.items():
        args.add_argument("--" + name, **more)
    args = args.parse_args()
    client = tiebreak.Client(args.url, args.token)
    session = client.session(args.session) if args.session else client.create("Where the point should be", FEATURES, prior_scale=[0.2, 0.2, 0.2])
    answer = people(session)
    if args.person:
        answer = program(tiebreak.Client(args.url, args.person).session(session.id), lambda a, b: "a" if (a - b) @ WANTED > 0 else "b")
    policy = train(session, answer, args.seed)
    print("near A, near B, strength:", play(np.repeat(policy[None], 100, 0), np.random.default_rng(0))[2].sum(1).mean(0).round(1).tolist())
