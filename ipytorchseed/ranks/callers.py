"""Counts the calls of functions that draw, by line of code.

The functions are wrapped while a rank is watched. Operations and lines are not traced, so watching
costs only about a microsecond for each call that draws.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.ranks.records import Site
from ipytorchseed.trace.draws import asker

# The functions that draw or seed, by their module or class.
_NAMES = {
    "torch": "rand rand_like randn randn_like randint randint_like randperm normal bernoulli"
    " multinomial poisson manual_seed set_rng_state",
    "torch.Tensor": "normal_ uniform_ exponential_ geometric_ cauchy_ log_normal_ random_"
    " bernoulli_ bernoulli multinomial",
    "torch._VF": "dropout dropout_ alpha_dropout alpha_dropout_ feature_dropout feature_dropout_"
    " feature_alpha_dropout feature_alpha_dropout_ rrelu rrelu_",
    "numpy.random": "seed rand randn randint random random_sample choice permutation shuffle normal"
    " uniform standard_normal binomial poisson beta exponential gamma multinomial set_state",
    "random": "seed random randint randrange choice choices sample shuffle uniform gauss"
    " normalvariate expovariate betavariate triangular setstate",
    "ipytorchseed": "seed restore",
}

# Functions that set the state of a source instead of drawing from it.
_SEEDS = frozenset({"manual_seed", "set_rng_state", "seed", "set_state", "setstate", "restore"})

# The index of the argument that turns a dropout function on.
_TRAINING = 2

# The most calls that are counted in a step. Counting more would slow down loops that draw.
_MOST = 2_000

# The most frames that are searched for a line of the user's code.
_DEEPEST = 100


class Callers:
    """Counts calls that draw, by the calling line."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, CodeType, int], int] = {}
        self._count = 0
        self._about = functools.cache(_about)
        self._replaced = Replacements()

    def start(self) -> None:
        """Wrap the functions of imported libraries."""
        for place, names in _NAMES.items():
            holder = _find(place)
            for name in names.split():
                original = getattr(holder, name, None)
                if original is not None:
                    counted = self._counting(original, place, name)
                    _let_scripts_know(original, counted)
                    self._replaced.put(holder, name, counted)

    def stop(self) -> None:
        """Restore the functions, except those that other code has replaced since."""
        self._replaced.put_back()

    def take(self) -> list[tuple[Site, int]]:
        """Return the calling lines since the previous ``take``, with counts of calls."""
        calls, self._calls, self._count = self._calls, {}, 0
        counted: dict[Site, int] = {}
        for (what, code, line), count in calls.items():
            site = Site(what, code.co_filename, line)
            counted[site] = counted.get(site, 0) + count
        return [*counted.items()]

    def _counting(self, original: Callable[..., Any], place: str, name: str) -> Callable[..., Any]:
        note = self._note
        shown = f"torch.{name.strip('_')}" if place == "torch._VF" else f"{place}.{name}"
        drops = place == "torch._VF"
        torch: Any = sys.modules.get("torch")
        is_compiling = torch.compiler.is_compiling if place.startswith("torch") else bool

        @functools.wraps(original, assigned=("__name__", "__doc__"))
        def function(*args: Any, **kwargs: Any) -> Any:
            if not is_compiling() and not (
                drops and len(args) > _TRAINING and args[_TRAINING] is False
            ):
                note(shown, sys._getframe(1), kwargs.get("generator"))  # noqa: SLF001 -- documented
            return original(*args, **kwargs)

        function.__module__ = place
        function.__qualname__ = name
        return function

    def _note(self, what: str, frame: FrameType | None, generator: Any) -> None:
        """Count a call at the innermost line of the user's code.

        If there is none, count it at the innermost line outside of torch.
        """
        self._count += 1
        if self._count > _MOST or (
            generator is not None and generator is not sys.modules["torch"].default_generator
        ):
            return
        first, by = None, ""
        for _ in range(_DEEPEST):
            if frame is None:
                break
            code = frame.f_code
            users, of_torch, asks = self._about(code)
            by = by or asks
            if users or (first is None and not of_torch):
                first = code, frame.f_lineno
            if users:
                break
            frame = frame.f_back
        if first is not None:
            key = by or what, *first
            self._calls[key] = self._calls.get(key, 0) + 1


def _about(code: CodeType) -> tuple[bool, bool, str]:
    """Return whether code is the user's, whether it is a library's, and who draws.

    The third item is the part of torch that draws in this code, or "".
    """
    file = code.co_filename
    path = file.replace("\\", "/")
    users = path.startswith("<ipython-input") or not is_installed_file(file)
    return users, "/torch/" in path or path.endswith("/random.py"), asker([file])


def _find(place: str) -> Any:
    """Return a module, or torch's tensor class, if it has been imported."""
    if place == "torch.Tensor":
        return getattr(sys.modules.get("torch"), "Tensor", None)
    return sys.modules.get(place)


def _let_scripts_know(original: object, counted: object) -> None:
    """Make TorchScript accept the wrapper: it looks functions up by ``id``."""
    builtins: Any = sys.modules.get("torch.jit._builtins")
    with suppress(Exception):  # the table is private to torch, so it may change
        table = builtins._get_builtin_table()  # noqa: SLF001
        if id(original) in table:
            table[id(counted)] = table[id(original)]


def source_of(what: str, name: str) -> bool:
    """Return whether a function draws from a source, or sets its state.

    Args:
        what: The function, as in ``Site.what``.
        name: The source.
    """
    if what.startswith("random."):
        return name == "python"
    if what.startswith("numpy."):
        return name == "numpy"
    return what.startswith("ipytorchseed.") or name.startswith("torch.")


def seeds(site: Site) -> bool:
    """Return whether the function called at a line sets a state instead of drawing."""
    return site.what.rpartition(".")[2] in _SEEDS


def differ(one: dict[Site, int], other: dict[Site, int], name: str) -> Iterator[Site]:
    """Yield lines that act on a source and made more calls in one of two ranks.

    Args:
        one: The counts of calls by line, in the rank with more calls.
        other: The counts of calls by line, in the other rank.
        name: The source.
    """
    for site, count in one.items():
        if count > other.get(site, 0) and source_of(site.what, name):
            yield site
