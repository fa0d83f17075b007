"""``python -m benchmarks [NAME]...``: measure all, or what is named.

Print the tables.
"""

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
"""Modules of this folder, in the order in which they are run."""

# An installed package has its bytecode; kernels started here shall not compile ours each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
unknown = set(sys.argv[1:]) - set(ALL)
if unknown:
    sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
for name in sys.argv[1:] or ALL:
    show(name.capitalize(), import_module(f"benchmarks.{name}").rows())
