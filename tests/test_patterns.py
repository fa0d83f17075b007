"""No text that a user or a library prints makes a pattern of ours take time with its square."""

from __future__ import annotations

import gc
import importlib
import itertools
import pkgutil
import re
import time

import pytest

from ipytorchseed.patterns import LazyPattern
from ipytorchseed.reads.shell import _MAY_FETCH


def patterns():
    """Return the patterns that meet what is printed, raised or shown, by the module's name."""
    found = {}
    for folder in ("checking", "determinism", "render", "session", "why"):
        package = importlib.import_module(f"ipytorchseed.{folder}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            waiting = [*vars(importlib.import_module(module.name)).values()]
            while waiting:
                value = waiting.pop()
                value = getattr(value, "__self__", value)
                if isinstance(value, re.Pattern | LazyPattern) and isinstance(value.pattern, str):
                    found.setdefault(value, f"{module.name}-{len(found)}")
                elif type(value) in (tuple, list):
                    waiting += value
    return {name: pattern for pattern, name in found.items()}


PATTERNS = {**patterns(), "ipytorchseed.reads.shell": _MAY_FETCH.__self__}

BEGINNINGS = [
    "[1:00<", "[1:00,", "[1:00<1,", "[", "1", "1:00", "1.", "1e", "1 ", "-1", "0x", "at 0x", " id=1",
    "ipykernel_1", "1s 1ms/", "| elapsed: ", "_per_second': 1", " ± ", "1 ± 1 per loop (mean ± ",
    "\n", " ", "\n ", "\t", "time ", "took.", "1h1m", "CPU times:", "Compiler ", "1%|", "|", "1it [",
    "\x1b[1;", "id='", "id=", "<dc:date>", "2026-01-01 00:00:00", '"', "'", "!", "_", "a", "a.", "a::",
    "a ", "('a", "RuntimeError: ", "é", "%",
    "<table>", "<tr>", "<td>", "<td ", "...0x", "&gt;",
]  # fmt: skip
"""What patterns begin with, or go on with: repeated, alone and in pairs, they are the worst texts."""

TEXTS = [*BEGINNINGS, *("".join(pair) for pair in itertools.permutations(BEGINNINGS[::4], 2))]


def seconds(pattern, text, tries=3):
    """Return how long it takes to find all of a pattern in a text, at best."""
    best = float("inf")
    for _ in range(tries):
        begin = time.process_time()
        pattern.sub("", text)
        best = min(best, time.process_time() - begin)
    return best


def growth(pattern, unit):
    """Return how often as long a text takes that is four times as long: four, or for squares 16."""
    gc.disable()
    try:
        for size in (1_000, 4_000, 16_000):
            text = (unit * size)[:size]
            if seconds(pattern, text, tries=1) > 0.006:
                return seconds(pattern, (unit * 4 * size)[: 4 * size]) / seconds(pattern, text)
    finally:
        gc.enable()
    return 0


SQUARE = 9
"""Between the two; the machine may be busy, so that what seems beyond is looked at again."""


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_the_worst_text_takes_time_in_proportion_to_its_length(pattern):
    """Whatever a cell prints over and over."""
    for unit in TEXTS:
        assert any(growth(pattern, unit) < SQUARE for _ in range(3)), unit


ONCE = {
    "[1:00<": r"\[\d+:\d\d(?::\d\d)?(?:<[^,\]]*)?,\s*[^,\]]*(?:/s|s/\w+)",
    " ± ": r"^.* ± .* per loop \(mean ± .*",
    "\n": r"^\s*(?:[!%]|pip)",
}


@pytest.mark.parametrize("unit", ONCE)
def test_a_pattern_that_takes_the_square_would_be_found(unit):
    """Three that did; and the search for patterns finds those there are."""
    pattern = re.compile(ONCE[unit], re.MULTILINE)
    assert any(growth(pattern, unit) > SQUARE for _ in range(3))
    assert len(PATTERNS) > 20
