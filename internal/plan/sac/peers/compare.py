"""Compares updates per CPU second of internal/plan/sac with PyTorch's, in turn, on one thread.

usage: compare.py ROUNDS SECONDS BENCHMARK PYTHON...

BENCHMARK is the test binary of internal/plan/sac; each PYTHON has another PyTorch.
Prints medians over the rounds, and our ratio to each PyTorch in the rounds.
"""

import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "GOMAXPROCS": "1"}


def output(*command):
    return subprocess.run(command, env={**os.environ, **ONE}, check=True, capture_output=True, text=True).stdout


def ours(binary, hidden, seconds):
    text = output(binary, "-test.run=-", f"-test.bench=Update/hidden={hidden}$", f"-test.benchtime={seconds}s")
    return float(re.search(r"([\d.]+) updates/cpu-s", text).group(1))


def theirs(python, hidden, seconds):
    return float(output(python, os.path.join(HERE, "update.py"), str(hidden), seconds))


def main(rounds, seconds, binary, pythons):
    versions = [output(p, "-c", "import torch; print(torch.__version__)").strip() for p in pythons]
    for hidden in (64, 256):
        us, them = [], [[] for _ in pythons]
        for _ in range(rounds):
            us.append(ours(binary, hidden, seconds))
            for k, p in enumerate(pythons):
                them[k].append(theirs(p, hidden, seconds))
        print(f"hidden {hidden}: ours {statistics.median(us):.0f}/s")
        for version, rates in zip(versions, them):
            ratios = sorted(u / r for u, r in zip(us, rates))
            print(f"  PyTorch {version}: {statistics.median(rates):.0f}/s, ratio {statistics.median(ratios):.2f} "
                  f"({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
