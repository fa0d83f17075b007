"""Settings of libraries and of the process that change what a cell computes, shows or raises."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.library_readers import (
    plain_values,
    read_arguments,
    read_decimal,
    read_dialects,
    read_figures,
    read_formatter,
    read_inline,
    read_logs,
    read_module_hooks,
    read_optimizer_hooks,
    read_pandas,
    read_pandas_display,
    read_polars,
    read_rc,
    read_sklearn,
    read_time_zone,
    read_umask,
    read_warnings,
)
from ipytorchseed.determinism.library_setters import (
    Undo,
    keep_anomaly,
    keep_arguments,
    keep_decimal,
    keep_dialects,
    keep_figures,
    keep_formatter,
    keep_logs,
    keep_module_hooks,
    keep_numpy_printing,
    keep_optimizer_hooks,
    keep_pandas,
    keep_rc,
    keep_sklearn,
    keep_torch_printing,
    keep_warnings,
    write_decimal,
    write_dialects,
    write_figures,
    write_formatter,
    write_inline,
    write_logs,
    write_module_hooks,
    write_optimizer_hooks,
    write_pandas,
    write_polars,
    write_rc,
    write_time_zone,
    write_umask,
    write_warnings,
)

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
        restore: The call that sets it, with ``{}`` for its value, or for keyword arguments where it
            has several; empty where no single call does.
        write: Sets it to JSON values, given the package's module; by default ``restore`` does.
        keep: Returns what restores it exactly as it is now, given the package's module; by default
            its value is read now and written then.
        fits: Returns whether it can be set to a JSON value; those of objects cannot.
        through: Other packages that use this one for their output.
    """

    name: str
    package: str
    acts_on: str
    read: Callable[[Any], Any]
    restore: str = ""
    through: frozenset[str] = frozenset()
    write: Callable[[Any, Any], object] | None = None
    keep: Callable[[Any], Undo] | None = None
    fits: Callable[[Any], bool] = lambda _: True

    def can_be(self, value: Any) -> bool:  # JSON values
        """Return whether it can be set to a recorded value."""
        return (bool(self.restore) or self.write is not None) and self.fits(value)

    def set(self, value: Any) -> None:  # JSON values
        """Set it to a recorded value, unless it has it; ``read`` tells whether it took it."""
        module = sys.modules.get(self.package)
        if (module is None and self.package) or self.read(module) == value:
            return
        if self.write is not None:
            self.write(module, value)
        else:
            exec(self.statement(value), {})  # noqa: S102 -- our own text

    def kept(self) -> Undo:
        """Return what restores the present value."""
        module = sys.modules.get(self.package)
        return partial(self.set, self.read(module)) if self.keep is None else self.keep(module)

    def statement(self, before: Any, after: Any = None) -> str:  # JSON values
        """Write the statement that puts it back; of several values, those that changed."""
        given = repr(before)
        if isinstance(before, dict):
            moved = {n: each for n, each in before.items() if not after or after.get(n) != each}
            given = ", ".join(f"{name}={each!r}" for name, each in moved.items())
        package = self.restore.partition(".")[0]
        return f"import {package}; {self.restore.format(given)}"


_DRAWS = frozenset({"networkx", "pandas", "seaborn", "sklearn", "statsmodels", "xarray"})
"""Packages whose objects draw themselves with matplotlib, as ``frame.plot()`` does."""


_PARSE = frozenset({"absl", "click", "fire", "sys", "typer"})
"""Packages that give a cell the arguments of the process, as ``argparse`` does."""


_SMALLEST = [5e-324]
"""The smallest float, which is denormal; in a list, so that the compiler does not fold it."""


def _is_empty(value: Any) -> bool:
    return not value


SETTINGS: tuple[Setting, ...] = (
    Setting("calendar.setfirstweekday", "calendar", NUMBERS,
            lambda calendar: calendar.firstweekday(), "calendar.setfirstweekday({})"),
    Setting("csv.register_dialect", "csv", NUMBERS, read_dialects,
            write=write_dialects, keep=keep_dialects),
    Setting("decimal.getcontext", "decimal", NUMBERS, read_decimal,
            write=write_decimal, keep=keep_decimal),
    Setting("sys.argv", "argparse", NUMBERS, read_arguments, "sys.argv = {}", _PARSE,
            keep=keep_arguments),
    Setting("sklearn.set_config", "sklearn", NUMBERS, partial(read_sklearn, shown=False),
            "sklearn.set_config({})", keep=keep_sklearn),
    Setting("sklearn.set_config.display", "sklearn", TEXT, partial(read_sklearn, shown=True),
            "sklearn.set_config({})", keep=keep_sklearn),
    Setting("torch.backends.mha.fastpath_enabled", "torch", NUMBERS,
            lambda torch: torch.backends.mha.get_fastpath_enabled(),
            "torch.backends.mha.set_fastpath_enabled({})"),
    Setting("torch.nn.modules.module.hooks", "torch", NUMBERS, read_module_hooks,
            write=write_module_hooks, keep=keep_module_hooks, fits=_is_empty),
    Setting("torch.optim.optimizer.hooks", "torch", NUMBERS, read_optimizer_hooks,
            write=write_optimizer_hooks, keep=keep_optimizer_hooks, fits=_is_empty),
    Setting("torch.set_flush_denormal", "torch", NUMBERS, lambda _: _SMALLEST[0] * 1.0 == 0.0,
            "torch.set_flush_denormal({})"),
    Setting("torch.autograd.set_detect_anomaly", "torch", ERRORS,
            lambda torch: torch.is_anomaly_enabled(), "torch.autograd.set_detect_anomaly({})",
            keep=keep_anomaly),
    Setting("numpy.set_printoptions", "numpy", TEXT,
            lambda numpy: plain_values(numpy.get_printoptions()), "numpy.set_printoptions({})",
            keep=keep_numpy_printing),
    Setting("torch.set_printoptions", "torch", TEXT,
            lambda torch: plain_values(vars(torch._tensor_str.PRINT_OPTS)),  # noqa: SLF001
            "torch.set_printoptions({})", keep=keep_torch_printing),
    Setting("pandas.options.display", "pandas", TEXT, read_pandas_display,
            write=partial(write_pandas, group="display."), keep=keep_pandas),
    Setting("pandas.options", "pandas", NUMBERS, read_pandas, write=write_pandas, keep=keep_pandas),
    Setting("polars.Config", "polars", TEXT, read_polars, write=write_polars),
    Setting("matplotlib.rcParams", "matplotlib", FIGURES, read_rc, through=_DRAWS,
            write=write_rc, keep=keep_rc),
    Setting("matplotlib.pyplot.figure", "matplotlib.pyplot", FIGURES, read_figures,
            through=_DRAWS | {"matplotlib"},
            write=write_figures, keep=keep_figures, fits=_is_empty),
    Setting("InlineBackend", "matplotlib_inline.config", FIGURES, read_inline,
            through=_DRAWS | {"matplotlib"}, write=write_inline),
    Setting("IPython.display_formatter", "", TEXT, read_formatter,
            write=write_formatter, keep=keep_formatter(read_formatter)),
    Setting("locale.setlocale", "locale", TEXT, lambda locale: locale.setlocale(locale.LC_ALL),
            "locale.setlocale(locale.LC_ALL, {})"),
    Setting("logging.levels", "logging", TEXT, read_logs,
            write=write_logs, keep=keep_logs),
    Setting("time.tzname", "", LOCAL_TIMES, read_time_zone, write=write_time_zone),
    Setting("os.umask", "os", RIGHTS, read_umask, write=write_umask),
    Setting("numpy.seterr", "numpy", ERRORS, lambda numpy: numpy.geterr(), "numpy.seterr({})"),
    Setting("warnings.filters", "", ERRORS, read_warnings,
            write=write_warnings, keep=keep_warnings),
    Setting("sys.setrecursionlimit", "", ERRORS, lambda _: sys.getrecursionlimit(),
            "sys.setrecursionlimit({})"),
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
    """Set the settings of a record; one that a library refuses stays.

    Args:
        saved: What ``read_libraries`` returned, and anything else.
    """
    for setting in SETTINGS:
        if setting.name in saved and setting.can_be(saved[setting.name]):
            with suppress(Exception):
                setting.set(saved[setting.name])


def keep_libraries() -> Undo:
    """Return what restores every setting of every imported library as it is now.

    One that fails to be restored keeps none of the others from it.
    """
    kept: list[Undo] = []
    for setting in SETTINGS:
        with suppress(Exception):  # its package is not imported, or another version
            kept.append(setting.kept())

    def undo() -> None:
        for each in reversed(kept):  # the filters of warnings before what may warn
            with suppress(Exception):  # ``read_libraries`` tells
                each()

    return undo
