"""``python -m benchmarks [NAME]...``: runs all or the named benchmarks."""

import os
import sys
from importlib import import_module

from benchmarks.table import show

ALL = [
    "starting",
    "seeding",
    "fingerprint",
    "ledger",
    "why",
    "kernel",
    "hearing",
    "observe",
    "namespace",
    "endurance",
    "share",
    "streams",
    "trace",
    "trace_files",
    "checking",
    "check",
    "fix",
    "experiment",
    "seeds",
    "inspector",
    "ranks",
]
"""The benchmarks, each a module in this folder, in the order in which they run."""

# An installed package has compiled bytecode. So have ours, so that kernels do not compile it again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
unknown = set(sys.argv[1:]) - set(ALL)
if unknown:
    sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
for name in sys.argv[1:] or ALL:
    show(name.capitalize(), import_module(f"benchmarks.{name}").rows())
