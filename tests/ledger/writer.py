"""Writes runs into a ledger and says the number of each that is acknowledged.

    python writer.py LEDGER KERNEL [COUNT]

It is run by the tests as its own process, to be killed, or with others at once.
"""

from __future__ import annotations

import itertools
import os
import sys
import time

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger import database
from ipytorchseed.ledger.records import Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.rng.source import digest


def main(path, kernel, count=None):
    """Write ``count`` runs, or until killed."""
    database.PATIENCE = 60
    with Ledger.open(path) as ledger:
        for number in itertools.islice(itertools.count(), int(count) if count else None):
            states = {digest(each): each for each in (os.urandom(2509) for _ in range(3))}
            names = dict(zip(("python", "numpy", "torch.cpu"), states, strict=True))
            curve = Fingerprint(
                f"{number:016x}", "list", "a curve", series=tuple(map(float, range(99)))
            )
            run = Run(
                notebook="shared.ipynb",
                kernel=kernel,
                cell=f"c{number % 7}",
                source=f"train({number})",
                execution_count=number + 1,
                started=time.time(),
                seconds=0.0,
                status="ok",
                before=names,
                after=names,
                writes={"curve": curve},
            )
            sys.stdout.write(f"{ledger.add(run, states)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
