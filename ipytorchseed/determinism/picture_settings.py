"""Settings and figures of matplotlib: read, kept and set.

``process_settings`` describes the three kinds of functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from ipytorchseed.determinism.kept import Undo, keep_contents, plain_values, value_of

# Prefixes of matplotlib's settings for windows, keys and animations.
NOT_DRAWN = (
    "_", "animation.", "backend", "docstring.", "figure.max_open_warning", "figure.raise_window",
    "interactive", "keymap.", "macosx.", "savefig.directory", "tk.", "toolbar", "webagg.",
)  # fmt: skip


# The values of matplotlib's settings at the last reading, and the result.
_known: tuple[list[Any], dict[str, Any]] = [], {}


def read_rc(matplotlib: Any) -> dict[str, Any]:
    """Return the settings that differ from matplotlib's defaults."""
    global _known  # noqa: PLW0603 -- settings belong to the process; there are 300, which rarely change
    held = dict.values(matplotlib.rcParams)
    values = [[*each] if type(each) is list else each for each in held]
    if values != _known[0]:
        _known = values, _moved(matplotlib)
    return _known[1]


def _moved(matplotlib: Any) -> dict[str, Any]:
    now, usual, look = matplotlib.rcParams, matplotlib.rcParamsDefault, dict.get
    moved = [
        (name, value, own)
        for name, value in dict.items(now)  # without warnings for old names
        if value is not (own := look(usual, name))
    ]
    return plain_values(
        {
            name: value
            for name, value, own in moved
            if value != own and not name.startswith(NOT_DRAWN)
        }
    )


def keep_rc(matplotlib: Any) -> Undo:
    """Return a function that restores settings, except those for windows and keys.

    The function does not validate the values.
    """
    kept = {
        name: [*each] if type(each) is list else each
        for name, each in dict.items(matplotlib.rcParams)
        if not name.startswith(NOT_DRAWN)
    }
    return lambda: dict.update(matplotlib.rcParams, kept)


def write_rc(matplotlib: Any, values: Mapping[str, Any]) -> None:
    """Set the settings of a record, and all others to their defaults."""
    now = read_rc(matplotlib)
    for name in now.keys() - values.keys():
        usual = dict.get(matplotlib.rcParamsDefault, name)
        dict.update(matplotlib.rcParams, {name: usual})
    for name, value in values.items():
        if now.get(name) != value and not name.startswith(NOT_DRAWN):
            matplotlib.rcParams[name] = value_of(value)


def read_figures(pyplot: Any) -> dict[str, Any]:
    """Return the content of pyplot's figures, and the current figure."""
    managers = pyplot._pylab_helpers.Gcf.figs  # noqa: SLF001 -- pyplot's functions may create one
    figures = {number: vars(each.canvas.figure) for number, each in [*managers.items()]}
    counts = {
        number: sum(len(vars(axes)["_children"]) for axes in [*held["_localaxes"]])
        for number, held in figures.items()  # methods may be the user's code
    }
    told = {f"figure {n}": f"{count} artist{'s' * (count != 1)}" for n, count in counts.items()}
    return told | ({"current figure": [*counts][-1]} if counts else {})


def keep_figures(pyplot: Any) -> Undo:
    """Return a function that restores figures, their content and the current figure."""
    held = pyplot._pylab_helpers.Gcf  # noqa: SLF001 -- asking pyplot may make one
    kept = [*held.figs.items()]
    figures = [vars(manager.canvas.figure) for _, manager in kept]
    axes = [each["_localaxes"] for each in figures]
    stacks = [vars(each["_axstack"])["_axes"] for each in figures]  # the current axes are last
    drawn = [vars(each)["_children"] for each in chain(*axes)]
    undos = [keep_contents(each) for each in (*axes, *stacks, *drawn)]

    def undo() -> None:
        if [*held.figs.items()] != kept:
            for number in {*held.figs} - dict(kept).keys():
                held.destroy(number)
            held.figs.clear()
            held.figs.update(kept)
        for restore in undos:
            restore()

    return undo


PICTURES = ("figure_formats", "print_figure_kwargs", "rc")


def read_inline(inline: Any) -> dict[str, Any]:
    """Return the settings of ``%config InlineBackend`` that differ from the defaults.

    The backend sets its defaults when it first shows a picture.
    """
    made = inline.InlineBackend
    values = getattr(made._instance, "_trait_values", {})  # noqa: SLF001 -- access sets them
    usual = {name: getattr(made, name).default() for name in PICTURES}
    moved = {n: values[n] for n in PICTURES if n in values and values[n] != usual[n]}
    return plain_values(
        {n: sorted(each) if type(each) is set else each for n, each in moved.items()}
    )


def write_inline(inline: Any, values: Mapping[str, Any]) -> None:
    """Set the settings of the inline backend."""
    kind = inline.InlineBackend
    if kind._instance is None:  # noqa: SLF001 -- ``instance()`` creates it
        return
    now, made = read_inline(inline), kind.instance()
    for name in PICTURES:
        if now.get(name) != values.get(name):
            usual = getattr(kind, name).default()
            value = value_of(values[name]) if name in values else usual
            setattr(made, name, {*value} if type(usual) is set else value)
