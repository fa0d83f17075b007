"""``python -m benchmarks [NAME]...``: measure all, or what is named; print the tables."""

import sys

from benchmarks import fingerprint, inspector, kernel, ledger, seeding, starting, why
from benchmarks.table import show

ALL = {
    "starting": starting,
    "seeding": seeding,
    "fingerprint": fingerprint,
    "ledger": ledger,
    "why": why,
    "kernel": kernel,
    "inspector": inspector,
}

unknown = set(sys.argv[1:]) - ALL.keys()
if unknown:
    sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
for name in sys.argv[1:] or ALL:
    show(name.capitalize(), ALL[name].rows())
