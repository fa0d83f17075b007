"""Interprets the recorded actions of a run: which ones seed, draw or import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ipytorchseed.patterns import lazy_pattern

# The maximum number of actions recorded for one run, and the maximum length of each.
MAX_ACTIONS = 200

# Matches the last part of the dotted name of a function that seeds or sets a state.
_SEEDS = lazy_pattern(r"(.*_)?seed(_.*)?|set_?(rng_)?state")

# Finds words in actions that change a source's state other than by drawing.
_SETS_STATE = lazy_pattern(r"(?<!ipytorch)seed|set_?(rng_)?state|bit_generator")

# Matches actions that are searched as a whole: magics, and ``rng.bit_generator.state=``. In other
# actions, only the last part of the name is searched.
_WHOLE = lazy_pattern(r"^%|=$")

# The library of a call, by the first part of the dotted name.
_SOURCES = {"np": "numpy", "numpy": "numpy", "random": "python", "torch": "torch"}

# Finds words in the names of functions of torch, numpy and ``random`` that draw.
_DRAWS = lazy_pattern(
    r"rand|dropout|sample|shuffle|permut|normal|uniform|bernoulli|multinomial|poisson|\.nn\.[A-Z]"
    r"|init\.|compile|attention"
)

# Builtins that never draw from their arguments.
_NEVER_DRAW = frozenset({"getattr", "hasattr", "id", "isinstance", "len", "print", "repr"})


def is_name(action: str) -> bool:
    """Return whether an action is a call or assignment, not a magic or statement."""
    return action[:1] not in ("%", "!", "=") and " " not in action


def imports_of(actions: Iterable[str]) -> set[str]:
    """Return the packages that actions import."""
    imported = (each.removeprefix("import ") for each in actions if each.startswith("import "))
    return {each.partition(".")[0] for each in imported} - {""}


def last_part(action: str) -> str:
    """Return the last part of the dotted name that an action calls or sets."""
    return action.rpartition(".")[2] if is_name(action) else ""


def may_set_state(actions: Iterable[str], name: str) -> bool:
    """Return whether actions may change a source's state other than by drawing.

    Args:
        actions: The recorded actions of a run.
        name: The source or generator. Functions that seed another library are ignored.
    """
    library = name.partition(".")[0]
    return any(
        _SETS_STATE.search(action if _WHOLE.search(action) else last_part(action)) is not None
        and _SOURCES.get(action.partition(".")[0], library) == library
        for action in actions
    )


def may_draw_first(actions: Sequence[str], name: str) -> bool:
    """Return whether actions seed a source but may draw from it before that.

    Args:
        actions: The recorded actions of a run.
        name: The source or generator.
    """
    seeding = (n for n, action in enumerate(actions) if may_set_state([action], name))
    return any(map(_may_draw, actions[: next(seeding, 0)]))


def _may_draw(action: str) -> bool:
    called = last_part(action)
    if not called or called in _NEVER_DRAW or _SEEDS.fullmatch(called):
        return False
    own = action.startswith(("numpy.", "random.", "torch."))
    return not own or _DRAWS.search(action) is not None


def may_draw(action: str, library: str) -> bool:
    """Return whether an action may draw from ``python``, ``numpy`` or ``torch``."""
    root = action.partition(".")[0]
    return _SOURCES.get(root) == library and _DRAWS.search(action) is not None
