"""The time that the extension adds to cells with much output."""

from __future__ import annotations

import statistics
from contextlib import ExitStack

from benchmarks.kernel import kernel
from benchmarks.table import MILLI, Row

ROUNDS = 5
MOST = 1.1
"""The largest allowed ratio to the time without the extension."""

SMALL = 50.0
"""Further milliseconds allowed at the end of a cell, for removing times from its output."""

START = "import torch\nfrom IPython.display import display\nimage = b'\\x89PNG' * 10_000"

CELLS = {
    "10,000 lines printed": "for i in range(10_000): print('step', i, 'loss', i / 7)",
    "1,000,000 characters in lines": "print('epoch 3: loss 0.531, 3.2 s\\n' * 31_000)",
    "one line of 50 MB": "print('x' * 50_000_000)",
    "one line of 100 MB": "print('x' * 100_000_000)",
    "180 KB of the worst text": "print('[1:00<' * 30_000)",
    "200 images": "for i in range(200): display({'image/png': image + b'%d' % i}, raw=True)",
    "2,000 small displays": "for i in range(2_000): display({'text/plain': str(i)}, raw=True)",
    "a display of 100 MB": "display({'text/html': 'x' * 100_000_000}, raw=True)",
}


def rows() -> list[Row]:
    """Return the measured rows."""
    with ExitStack() as stack:
        bare = stack.enter_context(kernel(START))
        ours = stack.enter_context(kernel(START, "%load_ext ipytorchseed", "x = 1"))
        found = []
        for what, cell in CELLS.items():
            with_us, without = [], []
            for _ in range(ROUNDS):
                with_us.append(ours(cell))
                without.append(bare(cell))
            mine, other = (statistics.median(each) * MILLI for each in (with_us, without))
            met = mine <= MOST * other + SMALL
            found.append(
                Row(what, mine, other, "no extension", "ms", "at most 10% and 50 ms more", met)
            )
    return found
