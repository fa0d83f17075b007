"""Runs a shell whose cells another process interrupts at random."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from IPython.terminal.interactiveshell import TerminalInteractiveShell
from traitlets.config import Config

SENDER = """
import os, sys, time
for line in sys.stdin:
    time.sleep(float(line))
    os.kill(os.getppid(), 2)
    print(end='x', flush=True)
"""

CELLS = [
    "for _ in range(10**4): pass\nn = len(data)",
    "time.sleep(0.003)\nlen(data)",
    "n = data[5]",
]


# Makes values to look at.
SETUP = "import time\ndata = [str(n) for n in range(50_000)]"


def make_shell(setup: str) -> TerminalInteractiveShell:
    """Return a terminal's shell with the extension loaded, in which a cell has run."""
    config = Config()
    config.TerminalInteractiveShell.simple_prompt = True
    config.TerminalInteractiveShell.colors = "nocolor"
    config.HistoryManager.enabled = False
    shell = TerminalInteractiveShell.instance(config=config)
    shell.run_cell("%load_ext ipytorchseed")
    shell.run_cell(setup, store_history=True)
    return shell


def main(count: int) -> int:
    """Interrupt each cell once; return how many interrupts arrived."""
    shell = make_shell(SETUP)
    began = time.perf_counter()
    for cell in CELLS * 3:
        shell.run_cell(cell, store_history=True)
    longest = (time.perf_counter() - began) / len(CELLS * 3)
    seen, chance, sent = 0, random.Random(7), Path("sent")
    with sent.open("w") as answers:  # one letter for each interrupt sent
        sender = subprocess.Popen(
            [sys.executable, "-c", SENDER], stdin=subprocess.PIPE, stdout=answers
        )
    for number in range(count):
        arrived = False
        try:
            os.write(sender.stdin.fileno(), b"%f\n" % (chance.random() * longest))
            result = shell.run_cell(CELLS[number % len(CELLS)], store_history=True)
            arrived = not result.success
            while sent.stat().st_size <= number:
                time.sleep(0.0001)
        except KeyboardInterrupt:  # between two cells
            arrived = True
        while sent.stat().st_size <= number:
            time.sleep(0.0001)
        seen += arrived
    sender.stdin.close()
    sender.wait()
    return seen


if __name__ == "__main__":
    sys.stderr.write(f"seen {main(int(sys.argv[1]))}\n")
