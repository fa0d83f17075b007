"""Counts the calls of functions that draw, by line of code.

The functions are wrapped while a rank is watched. Operations and lines are not traced, so watching
costs only about a microsecond for each call that draws.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from traceback import walk_stack
from types import CodeType, FrameType
from typing import Any

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.ranks.looking import Site
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

# At most this many calls are counted in a step. Counting more would slow down loops that draw.
_MOST = 2_000


class Callers:
    """Counts of the calls that draw, by the calling line."""

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, str, int]] = Counter()
        self._count = 0
        self._about = functools.cache(_about)
        self._replaced = Replacements()

    def start(self) -> None:
        """Wrap the functions of imported libraries."""
        for place, names in _NAMES.items():
            module, _, attribute = place.rpartition(".")  # the place may be torch's tensor class
            holder = sys.modules.get(place) or getattr(sys.modules.get(module), attribute, None)
            for name in names.split():
                original = getattr(holder, name, None)
                if original is not None:
                    self._replaced.put(holder, name, self._counting(original, place, name))

    def stop(self) -> None:
        """Restore the functions, except those that other code has replaced since."""
        self._replaced.put_back()

    def take(self) -> list[tuple[Site, int]]:
        """Return the calling lines since the previous ``take``, with counts of calls."""
        calls, self._calls, self._count = self._calls, Counter(), 0
        return [(Site(*key), count) for key, count in calls.items()]

    def _counting(self, original: Callable[..., Any], place: str, name: str) -> Callable[..., Any]:
        note = self._note
        shown = f"torch.{name.strip('_')}" if place == "torch._VF" else f"{place}.{name}"
        drops = place == "torch._VF"
        torch: Any = sys.modules.get("torch")
        is_compiling = torch.compiler.is_compiling if place.startswith("torch") else bool

        @functools.wraps(original, assigned=("__name__", "__doc__"))
        def function(*args: Any, **kwargs: Any) -> Any:
            # The third argument turns a dropout function on.
            if not (is_compiling() or (drops and args[2:3] == (False,))):
                note(shown, sys._getframe(1), kwargs.get("generator"))  # noqa: SLF001 -- documented
            return original(*args, **kwargs)

        function.__module__ = place
        function.__qualname__ = name
        builtins: Any = sys.modules.get("torch.jit._builtins")
        with suppress(Exception):  # the table is private to torch, so it may change
            # Make TorchScript accept the wrapper: it looks functions up by `id`.
            table = builtins._get_builtin_table()  # noqa: SLF001
            if id(original) in table:
                table[id(function)] = table[id(original)]
        return function

    def _note(self, what: str, frame: FrameType | None, generator: Any) -> None:
        """Count a call at the innermost line of the user's code.

        If there is none, count it at the innermost line outside of torch.
        """
        self._count += 1
        own = generator is not None and generator is not sys.modules["torch"].default_generator
        if own or self._count > _MOST:
            return
        first, by = None, ""
        for each, line in walk_stack(frame):
            users, of_torch, asks = self._about(each.f_code)
            by = by or asks
            if users or (first is None and not of_torch):
                first = each.f_code.co_filename, line
            if users:
                break
        if first is not None:
            self._calls[by or what, *first] += 1


def _about(code: CodeType) -> tuple[bool, bool, str]:
    """Return whether code is the user's, whether it is a library's, and who draws.

    The third item is the part of torch that draws in this code, or "".
    """
    file = code.co_filename
    path = file.replace("\\", "/")
    users = path.startswith("<ipython-input") or not is_installed_file(file)
    return users, "/torch/" in path or path.endswith("/random.py"), asker([file])


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
