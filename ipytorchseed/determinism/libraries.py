"""Settings of libraries and of the process that change what a cell computes, shows or raises."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.flag import PLAIN

NUMBERS, TEXT, FIGURES = "numbers", "text", "figures"
ERRORS, RIGHTS, LOCAL_TIMES = "errors", "the rights of files", "local times"
"""What a setting acts on: results, their text, figures, errors, permissions of new files, times."""


class Setting(Struct, frozen=True):
    """A row: where a setting is found, and what it acts on.

    Attributes:
        name: The function or object that sets or holds it, as one would import it.
        package: It matters only to cells that use this package; "" for all cells.
        acts_on: ``NUMBERS``, ``TEXT``, ``FIGURES``, ``ERRORS``, ``RIGHTS`` or ``LOCAL_TIMES``.
        read: Returns its value as JSON values, given the package's module.
        restore: The call that puts it back, with ``{}`` for its value, or for keyword arguments
            where it has several; empty where no call does.
        through: Other packages that use this one for their output.
        asked: A regular expression for code that asks for it, and so computes with it.
    """

    name: str
    package: str
    acts_on: str
    read: Callable[[Any], Any]
    restore: str = ""
    through: frozenset[str] = frozenset()
    asked: str = ""

    def statement(self, before: Any, after: Any = None) -> str:  # JSON values
        """Write the statement that puts it back; of several values, those that changed."""
        given = repr(before)
        if isinstance(before, dict):
            moved = {n: each for n, each in before.items() if not after or after.get(n) != each}
            given = ", ".join(f"{name}={each!r}" for name, each in moved.items())
        package = self.restore.partition(".")[0]
        return f"import {package}; {self.restore.format(given)}"


def _plain(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return settings as JSON values; other values by their text."""
    return {
        str(name): value if type(value) in PLAIN else str(value) for name, value in values.items()
    }


def _of_sklearn(package: Any, *, shown: bool) -> dict[str, Any]:
    """Return scikit-learn's settings: those of how estimators are shown, or the others."""
    config = _plain(package.get_config())
    names = {"display", "print_changed_only"}
    return {name: value for name, value in config.items() if (name in names) is shown}


def _display_options(pandas: Any) -> dict[str, Any]:  # a module
    display = pandas._config.config._global_config["display"]  # noqa: SLF001 -- a copy takes 1 ms
    return _plain({name: each for name, each in display.items() if type(each) is not dict})


_COMPUTES = {
    "compute": ("use_bottleneck", "use_numba", "use_numexpr"),
    "future": ("distinguish_nan_and_na", "infer_string", "no_silent_downcasting", "python_scalars"),
    "mode": ("copy_on_write", "string_storage"),
}
"""Options of pandas by which it computes, and of which types it makes columns."""


def _computing_options(pandas: Any) -> dict[str, Any]:
    held = pandas._config.config._global_config  # noqa: SLF001 -- as above
    return _plain(
        {
            f"{group}.{name}": held[group][name]
            for group, names in _COMPUTES.items()
            for name in names
            if name in held.get(group, ())
        }
    )


def _of_polars(_: object) -> dict[str, Any]:
    """Return how tables of Polars are shown, which it keeps in the environment."""
    return {name: value for name, value in os.environ.items() if name.startswith("POLARS_FMT_")}


_NOT_DRAWN = (
    "_", "animation.", "backend", "docstring.", "figure.max_open_warning", "figure.raise_window",
    "interactive", "keymap.", "macosx.", "savefig.directory", "tk.", "toolbar", "webagg.",
)  # fmt: skip
"""How those of matplotlib's settings begin that are of windows, keys and films."""


_DRAWS = frozenset({"networkx", "pandas", "seaborn", "sklearn", "statsmodels", "xarray"})
"""Packages whose objects draw themselves with matplotlib, as ``frame.plot()`` does."""


_PARSE = frozenset({"absl", "click", "fire", "sys", "typer"})
"""Packages that give a cell the arguments of the process, as ``argparse`` does."""


_known: tuple[list[Any], dict[str, Any]] = [], {}
"""The values of matplotlib's settings when they were last read, and what was told of them."""


def _rc(matplotlib: Any) -> dict[str, Any]:
    """Return those settings that are not as matplotlib has them by itself."""
    global _known  # noqa: PLW0603 -- settings are the process's; there are 300, seldom set
    held = dict.values(matplotlib.rcParams)
    values = [[*each] if type(each) is list else each for each in held]
    if values != _known[0]:
        _known = values, _moved(matplotlib)
    return _known[1]


def _moved(matplotlib: Any) -> dict[str, Any]:
    now, usual, look = matplotlib.rcParams, matplotlib.rcParamsDefault, dict.get
    moved = [
        (name, value, own)
        for name, value in dict.items(now)  # which warns of no old name
        if value is not (own := look(usual, name))
    ]
    return _plain(
        {
            name: value
            for name, value, own in moved
            if value != own and not name.startswith(_NOT_DRAWN)
        }
    )


def _figures(pyplot: Any) -> dict[str, Any]:
    """Return what lies in each figure that pyplot holds, and which is the current one."""
    managers = pyplot._pylab_helpers.Gcf.figs  # noqa: SLF001 -- asking pyplot may make one
    figures = {number: vars(each.canvas.figure) for number, each in [*managers.items()]}
    counts = {
        number: sum(len(vars(axes)["_children"]) for axes in [*held["_localaxes"]])
        for number, held in figures.items()  # its methods may be of a class of the user's
    }
    told = {f"figure {n}": f"{count} artist{'s' * (count != 1)}" for n, count in counts.items()}
    return told | ({"current figure": [*counts][-1]} if counts else {})


_SHOWN = ("figure_formats", "print_figure_kwargs", "rc")


def _inline(inline: Any) -> dict[str, Any]:
    """Return how the shell shows pictures, where ``%config InlineBackend`` has set it otherwise.

    What is usual is set by itself, and only once a picture is shown.
    """
    made = inline.InlineBackend
    values = getattr(made._instance, "_trait_values", {})  # noqa: SLF001 -- asking sets them
    usual = {name: getattr(made, name).default() for name in _SHOWN}
    moved = {n: values[n] for n in _SHOWN if n in values and values[n] != usual[n]}
    return _plain({n: sorted(each) if type(each) is set else each for n, each in moved.items()})


_FORMATS = ("float_format", "max_seq_length", "max_width", "pprint")


def _formatter(_: object) -> dict[str, Any]:
    """Return how the shell formats results, as ``%precision`` and ``%pprint`` set it."""
    shell = sys.modules["IPython.core.interactiveshell"].InteractiveShell._instance  # noqa: SLF001 -- no code of the user's runs
    made = shell.display_formatter._trait_values.get("formatters")  # noqa: SLF001 -- asking makes them
    if made is not None:
        values = made["text/plain"]._trait_values  # noqa: SLF001 -- as above
    else:  # they are made when the first result is shown
        kind = sys.modules["IPython.core.formatters"].PlainTextFormatter
        values = {name: getattr(kind, name).default_value for name in _FORMATS}
        values |= shell.config.get("PlainTextFormatter", {})
    return _plain({name: values.get(name) for name in _FORMATS})


def _context(decimal: Any) -> dict[str, Any]:
    now = decimal.getcontext()
    return {"prec": now.prec, "rounding": now.rounding, "Emin": now.Emin, "Emax": now.Emax}


def _dialects(csv: Any) -> dict[str, Any]:
    """Return the format of each registered dialect, by its name."""
    known = {name: csv.get_dialect(name) for name in csv.list_dialects()}
    return {
        name: repr([getattr(each, part) for part in _OF_DIALECTS]) for name, each in known.items()
    }


_OF_DIALECTS = ("delimiter", "quotechar", "escapechar", "skipinitialspace", "quoting", "strict")


def _logs(logging: Any) -> dict[str, Any]:
    """Return level and handlers of each logger that has its own."""
    known = {"root": logging.root, **dict.copy(logging.root.manager.loggerDict)}
    told = {
        name: ", ".join(
            [logging.getLevelName(log.level)] * bool(log.level)
            + [type(each).__name__ for each in log.handlers]
        )
        for name, log in known.items()
        if isinstance(log, logging.Logger) and (log.level or log.handlers)
    }
    return {**told, "disable": logging.root.manager.disable}


def _umask(_: object) -> str | None:
    """Return the umask, from /proc: ``os.umask`` cannot read it without setting it."""
    file = os.open("/proc/self/status", os.O_RDONLY)
    try:
        begin = os.read(file, 256).decode("ascii", "replace")  # its second line
    finally:
        os.close(file)
    return begin.partition("Umask:")[2].split("\n")[0].strip() or None


_OF_ALL_MODULES = {
    "_global_forward_hooks": "register_module_forward_hook",
    "_global_forward_pre_hooks": "register_module_forward_pre_hook",
    "_global_backward_hooks": "register_module_full_backward_hook",
    "_global_backward_pre_hooks": "register_module_full_backward_pre_hook",
}
"""Where torch keeps hooks that run in every module, and the functions that register them."""


_OF_ALL_OPTIMIZERS = {
    "_global_optimizer_pre_hooks": "register_optimizer_step_pre_hook",
    "_global_optimizer_post_hooks": "register_optimizer_step_post_hook",
}
"""Where torch keeps hooks that run around the steps of every optimizer, and what registers them."""


def _module_hooks(torch: Any) -> dict[str, Any]:
    return _hooks(torch.nn.modules.module, _OF_ALL_MODULES)


def _optimizer_hooks(_: object) -> dict[str, Any]:
    return _hooks(sys.modules["torch.optim.optimizer"], _OF_ALL_OPTIMIZERS)  # torch.optim hides it


def _hooks(module: ModuleType, known: Mapping[str, str]) -> dict[str, Any]:
    """Return the names of the hooks that a module keeps, by the function that registers them."""
    held = vars(module)
    return {
        how: ", ".join(
            hook.__name__ if type(hook) is FunctionType else "a hook"  # no code of the user's runs
            for hook in [*held[name].values()]
        )
        for name, how in known.items()
        if held.get(name)
    }


def _arguments(_: object) -> list[str]:
    """Return the arguments of the process; a kernel's own name a file that is another each time."""
    given = [*sys.argv] if type(sys.argv) is list else []
    own = any("ipykernel" in each or "kernel-" in each for each in given if type(each) is str)
    return [] if own else [each for each in given if type(each) is str]


_SMALLEST = [5e-324]
"""The smallest float, which is denormal; in a list, so that the compiler does not fold it."""


def _errors_of_warnings(_: object) -> dict[str, str]:
    """Tell which classes of warnings are raised as errors."""
    raised = (each for each in warnings.filters if each[0] == "error")
    return {getattr(each[2], "__name__", str(each[2])): "raised" for each in raised}


SETTINGS: tuple[Setting, ...] = (
    Setting("calendar.setfirstweekday", "calendar", NUMBERS,
            lambda calendar: calendar.firstweekday(), "calendar.setfirstweekday({})"),
    Setting("csv.register_dialect", "csv", NUMBERS, _dialects),
    Setting("decimal.getcontext", "decimal", NUMBERS, _context),
    Setting("sys.argv", "argparse", NUMBERS, _arguments, "sys.argv = {}", _PARSE),
    Setting("sklearn.set_config", "sklearn", NUMBERS, partial(_of_sklearn, shown=False),
            "sklearn.set_config({})"),
    Setting("sklearn.set_config.display", "sklearn", TEXT, partial(_of_sklearn, shown=True),
            "sklearn.set_config({})", asked=r"\bget_config\b"),
    Setting("torch.backends.mha.fastpath_enabled", "torch", NUMBERS,
            lambda torch: torch.backends.mha.get_fastpath_enabled(),
            "torch.backends.mha.set_fastpath_enabled({})"),
    Setting("torch.nn.modules.module.hooks", "torch", NUMBERS, _module_hooks),
    Setting("torch.optim.optimizer.hooks", "torch", NUMBERS, _optimizer_hooks),
    Setting("torch.set_flush_denormal", "torch", NUMBERS, lambda _: _SMALLEST[0] * 1.0 == 0.0,
            "torch.set_flush_denormal({})"),
    Setting("numpy.set_printoptions", "numpy", TEXT,
            lambda numpy: _plain(numpy.get_printoptions()), "numpy.set_printoptions({})",
            asked=r"\bget_printoptions\b"),
    Setting("torch.set_printoptions", "torch", TEXT,
            lambda torch: _plain(vars(torch._tensor_str.PRINT_OPTS)),  # noqa: SLF001
            "torch.set_printoptions({})"),
    Setting("pandas.options.display", "pandas", TEXT, _display_options,
            asked=r"\boptions\.display\b|\bget_option\("),
    Setting("pandas.options", "pandas", NUMBERS, _computing_options),
    Setting("polars.Config", "polars", TEXT, _of_polars),
    Setting("matplotlib.rcParams", "matplotlib", FIGURES, _rc, through=_DRAWS,
            asked=r"\brcParams\[|\bget_(?:dpi|figwidth|figheight|size_inches)\("),
    Setting("matplotlib.pyplot.figure", "matplotlib.pyplot", FIGURES, _figures,
            through=_DRAWS | {"matplotlib"},
            asked=r"\b(?:gca|gcf|get_fignums|fignum_exists)\(|\bfig\w*(?:\([^()\n]*\))?\.number\b"),
    Setting("InlineBackend", "matplotlib_inline.config", FIGURES, _inline,
            through=_DRAWS | {"matplotlib"}),
    Setting("IPython.display_formatter", "", TEXT, _formatter),
    Setting("locale.setlocale", "locale", TEXT, lambda locale: locale.setlocale(locale.LC_ALL),
            "locale.setlocale(locale.LC_ALL, {})", asked=r"\b(?:getlocale|localeconv)\("),
    Setting("logging.levels", "logging", TEXT, _logs,
            asked=r"\b(?:isEnabledFor|getEffectiveLevel|hasHandlers)\(|\.(?:level|handlers)\b"),
    Setting("time.tzname", "", LOCAL_TIMES, lambda _: [*sys.modules["time"].tzname],
            asked=r"\btime\.(?:tzname|timezone|altzone)\b"),
    Setting("os.umask", "os", RIGHTS, _umask, asked=r"\bumask\("),
    Setting("numpy.seterr", "numpy", ERRORS, lambda numpy: numpy.geterr(), "numpy.seterr({})",
            asked=r"\bgeterr\("),
    Setting("warnings.filters", "", ERRORS, _errors_of_warnings, asked=r"\bwarnings\.filters\b"),
    Setting("sys.setrecursionlimit", "", ERRORS, lambda _: sys.getrecursionlimit(),
            "sys.setrecursionlimit({})", asked=r"\bgetrecursionlimit\("),
)  # fmt: skip
"""Every setting but torch's flags and environment variables."""

BY_NAME = {setting.name: setting for setting in SETTINGS}


def read_libraries(packages: Collection[str]) -> dict[str, Any]:
    """Return the settings that matter to a cell, by name, and the working folder as ``folder``.

    Nothing is imported.

    Args:
        packages: Packages that its code reaches.
    """
    found: dict[str, Any] = {}
    try:  # noqa: SIM105 -- before every cell: so below
        found["folder"] = os.getcwd()  # noqa: PTH109 -- a string is what is kept
    except OSError:  # it was removed
        pass
    for setting in SETTINGS:
        package = setting.package
        if package and package not in packages and setting.through.isdisjoint(packages):
            continue
        module = sys.modules.get(package)
        if package and module is None:
            continue
        try:  # noqa: SIM105 -- before every cell
            found[setting.name] = setting.read(module)
        except Exception:  # noqa: BLE001, S110 -- another version keeps it elsewhere
            pass
    return found


def restore_libraries(saved: Mapping[str, Any]) -> None:
    """Put the settings back that a call puts back; one that a library refuses stays.

    Args:
        saved: What ``read_libraries`` returned, and anything else.
    """
    for setting in SETTINGS:
        module = sys.modules.get(setting.package)
        if setting.restore and setting.name in saved and (module or not setting.package):
            with suppress(Exception):
                if setting.read(module) != saved[setting.name]:
                    exec(setting.statement(saved[setting.name]), {})  # noqa: S102 -- our own text
