"""Settings of libraries and the process that change results, outputs or errors."""

from __future__ import annotations

import operator
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.determinism import library_settings as library
from ipytorchseed.determinism import process_settings as process
from ipytorchseed.determinism.flag import Flag
from ipytorchseed.determinism.library_calls import Call, known_calls
from ipytorchseed.rng.table import entry_points, load_each

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# What a setting affects: results, their text, figures, errors, times.
NUMBERS, TEXT, FIGURES = "numbers", "text", "figures"
ERRORS, LOCAL_TIMES = "errors", "local times"


class Setting(Struct, frozen=True):
    """A row in the table of settings.

    Attributes:
        name: The public name of the function or object that sets or contains the setting.
        package: The package whose users are affected: only cells that use it; "" for all cells.
        acts_on: ``NUMBERS``, ``TEXT``, ``FIGURES``, ``ERRORS`` or ``LOCAL_TIMES``.
        read: Returns the setting as JSON values, given the package's module.
        restore: The call that sets the value, with ``{}`` for the value, or for keyword arguments
            if there are several values. With ``{name}`` and ``{value}``, each value has its own
            call. Empty if no call sets it.
        write: Sets JSON values, given the package's module; None to run ``restore``.
        keep: Returns a function that restores the present setting exactly, given the package's
            module. If it is None or returns None, the value is read now and set again later.
        fits: Returns whether a JSON value can be set. A value that represents an object cannot.
        digests: The setting's name in messages, if its values are digests of a library's objects.
        clear: The call that removes these objects.
        absent: What a message says if the value was not recorded.
        source: The address of the documentation.
        through: Other packages that use this package.
        why: What the setting does to numbers, in a sentence. Settings with such a sentence are in
            the determinism report.
    """

    name: str
    package: str
    acts_on: str
    read: Callable[[Any], Any]
    restore: str = ""
    through: frozenset[str] = frozenset()
    write: Callable[[Any, Any], object] | None = None
    keep: Callable[[Any], process.Undo | None] | None = None
    fits: Callable[[Any], bool] = lambda _: True
    digests: str = ""
    clear: str = ""
    absent: str = "unset"
    source: str = ""
    why: str = ""

    def can_be(self, value: Any) -> bool:  # JSON values
        """Return whether the setting can be set to a recorded value."""
        return (bool(self.restore) or self.write is not None) and self.fits(value)

    def set(self, value: Any) -> None:  # JSON values
        """Set a recorded value if it differs; ``read`` then shows whether that worked."""
        module = sys.modules.get(self.package)
        if (module is None and self.package) or self.read(module) == value:
            return
        if self.write is not None:
            self.write(module, value)
        else:
            exec(self.statement(value), {})  # noqa: S102 -- our own text

    def kept(self) -> process.Undo:
        """Return a function that restores the present value."""
        module = sys.modules.get(self.package)
        kept = None if self.keep is None else self.keep(module)
        return partial(self.set, self.read(module)) if kept is None else kept

    def statement(self, before: Any, after: Any = None) -> str:  # JSON values
        """Return the statement that restores a value, or the ones that changed."""
        begin, singly = f"import {self.restore.partition('.')[0]}; ", "{name}" in self.restore
        if not isinstance(before, dict):  # else it is a damaged receipt
            return "" if singly else begin + self.restore.format(repr(before))
        later = after if isinstance(after, dict) else {}  # a receipt of another version
        moved = {n: each for n, each in before.items() if n not in later or later[n] != each}
        if singly:
            calls = (self.restore.format(name=n, value=repr(each)) for n, each in moved.items())
            return begin + "; ".join(calls)
        given = ", ".join(f"{name}={each!r}" for name, each in moved.items())
        return begin + self.restore.format(given)


# Packages whose objects draw themselves with matplotlib, as ``frame.plot()`` does.
_DRAWS = frozenset({"networkx", "pandas", "seaborn", "sklearn", "statsmodels", "xarray"})


# Packages that read the arguments of the process.
_PARSE = frozenset({"absl", "click", "fire", "sys", "typer"})


# The smallest float, which is denormal. It is in a list so that the compiler does not fold it.
_SMALLEST = [5e-324]


_CALL_BLAS = frozenset({"numpy", "scipy", "sklearn", "statsmodels"})


def _is_number(value: Any) -> bool:
    return type(value) is int


_PYTHON = "https://docs.python.org/3/library/"
_TORCH = "https://docs.pytorch.org/docs/stable/"
_SKLEARN = "https://scikit-learn.org/stable/modules/generated/sklearn.set_config.html"
_NUMPY = "https://numpy.org/doc/stable/reference/generated/numpy."
_PANDAS = "https://pandas.pydata.org/docs/user_guide/options.html"
_POLARS = "https://docs.pola.rs/api/python/stable/reference/config.html"
_PYPLOT = "https://matplotlib.org/stable/api/pyplot_summary.html"
_MLFLOW = "https://mlflow.org/docs/latest/api_reference/python_api/mlflow.html"
_IPYTHON = "https://ipython.readthedocs.io/en/stable/config/options/terminal.html"

# Variables of Polars: for showing tables, and for splitting work, which affects the order of rows
# and sums.
_POLARS_SPLITS = (
    "POLARS_ENGINE_AFFINITY", "POLARS_IDEAL_MORSEL_SIZE", "POLARS_STREAMING_CHUNK_SIZE",
)  # fmt: skip

_OF_JAX = (
    "jax_default_dtype_bits", "jax_default_matmul_precision", "jax_default_prng_impl",
    "jax_enable_x64", "jax_numpy_dtype_promotion", "jax_threefry_partitionable",
)  # fmt: skip


def _hooks(module: str, source: str) -> Setting:
    """Return the row for the hooks of all modules, or of all optimizers."""
    return Setting(f"{module}.hooks", "torch", NUMBERS, partial(library.read_hooks, module),
        write=partial(library.remove_hooks, module), fits=operator.not_, source=source,
        keep=lambda _: library.keep_hooks(module))  # fmt: skip


# All settings except torch's flags and environment variables.
SETTINGS: tuple[Setting, ...] = (
    Setting("calendar.setfirstweekday", "calendar", NUMBERS,
            lambda calendar: calendar.firstweekday(), "calendar.setfirstweekday({})",
            source=f"{_PYTHON}calendar.html#calendar.setfirstweekday"),
    Setting("decimal.getcontext", "decimal", NUMBERS,
            lambda decimal: process.read_attributes(process.OF_DECIMAL[:4], decimal.getcontext()),
            "decimal.getcontext().{name} = {value}",
            keep=process.keep_decimal,
            source=f"{_PYTHON}decimal.html#decimal.getcontext"),
    Setting("mpmath.mp.prec", "mpmath", NUMBERS, lambda mpmath: mpmath.mp.prec,
            "mpmath.mp.prec = {}", source="https://mpmath.org/doc/current/contexts.html"),
    Setting("sys.argv", "argparse", NUMBERS, process.read_arguments, "sys.argv = {}", _PARSE,
            keep=lambda _: process.keep_attributes(sys, "argv"),
            source=f"{_PYTHON}sys.html#sys.argv"),
    Setting("sklearn.set_config", "sklearn", NUMBERS, partial(library.read_sklearn, shown=False),
            "sklearn.set_config({})", source=_SKLEARN,
            why="Estimators check, split and return data as these options say."),
    Setting("sklearn.set_config.display", "sklearn", TEXT,
            partial(library.read_sklearn, shown=True), "sklearn.set_config({})",
            source=_SKLEARN),
    Setting("threadpoolctl.threadpool_limits", "threadpoolctl", NUMBERS, library.read_blas,
            "threadpoolctl.threadpool_limits({}, 'blas')", _CALL_BLAS, write=library.write_blas,
            fits=_is_number, source="https://github.com/joblib/threadpoolctl",
            why="Matrix products of numpy and scipy are split among this many threads; another"
            " number rounds differently."),
    Setting("jax.config", "jax", NUMBERS,
            lambda jax: process.read_attributes(_OF_JAX, jax.config),
            "jax.config.update('{name}', {value})",
            source="https://docs.jax.dev/en/latest/config_options.html",
            why="JAX computes and draws random numbers in this precision and by this method."),
    Setting("keras.config", "keras", NUMBERS, library.read_keras,
            "keras.config.set_{name}({value})", write=library.write_keras,
            source="https://keras.io/api/utils/config_utils/",
            why="New layers of Keras compute on this backend and in this precision."),
    Setting("keras.utils.clear_session", "keras", TEXT, library.read_keras_names,
            write=library.write_keras_names, source="https://keras.io/api/utils/config_utils/"),
    Setting("pyro.get_param_store", "pyro", NUMBERS, library.read_pyro, keep=library.keep_pyro,
            fits=lambda _: False, digests="pyro's parameter store",
            clear="pyro.clear_param_store()", source="https://docs.pyro.ai/en/stable/parameters.html"),
    Setting("accelerate.state.AcceleratorState", "accelerate", NUMBERS, library.read_accelerator,
            write=lambda accelerate, _: accelerate.state.AcceleratorState._shared_state.clear(),  # noqa: SLF001 -- as read
            keep=lambda accelerate: process.keep_attributes(
                accelerate.state.AcceleratorState, "_shared_state"
            ),
            fits=operator.not_,
            source="https://huggingface.co/docs/accelerate/package_reference/state"),
    Setting("mlflow.active_run", "mlflow.tracking.fluent", NUMBERS,
            lambda fluent: [run.info.run_id for run in fluent._active_run_stack.get()],  # noqa: SLF001 -- the public function asks the server
            through=frozenset({"mlflow"}), fits=lambda _: False,
            keep=lambda fluent: process.keep_contents(fluent._active_run_stack.get()),  # noqa: SLF001 -- as read
            source=f"{_MLFLOW}#mlflow.active_run"),
    Setting("mlflow.set_experiment", "mlflow.tracking.fluent", NUMBERS,
            lambda fluent: fluent._active_experiment_id,  # noqa: SLF001 -- as above
            through=frozenset({"mlflow"}),
            write=lambda fluent, value: setattr(fluent, "_active_experiment_id", value),
            source=f"{_MLFLOW}#mlflow.set_experiment"),
    Setting("mlflow.set_tracking_uri", "mlflow.tracking._tracking_service.utils", NUMBERS,
            lambda utils: utils._tracking_uri,  # noqa: SLF001 -- the public function asks the server
            through=frozenset({"mlflow"}),
            write=lambda utils, value: setattr(utils, "_tracking_uri", value),
            source=f"{_MLFLOW}#mlflow.set_tracking_uri"),
    Setting("datasets.disable_caching", "datasets", NUMBERS,
            lambda datasets: "enabled" if datasets.is_caching_enabled() else "disabled",
            write=lambda datasets, value: datasets.enable_caching() if value == "enabled"
            else datasets.disable_caching(),
            source="https://huggingface.co/docs/datasets/about_cache"),
    Setting("cv2.setNumThreads", "cv2", NUMBERS, lambda cv2: cv2.getNumThreads(),
            "cv2.setNumThreads({})",
            source="https://docs.opencv.org/4.x/db/de0/group__core__utils.html"),
    Setting("cv2.setUseOptimized", "cv2", NUMBERS, lambda cv2: cv2.useOptimized(),
            "cv2.setUseOptimized({})",
            source="https://docs.opencv.org/4.x/db/de0/group__core__utils.html"),
    Setting("numba.set_num_threads", "numba.np.ufunc.parallel", NUMBERS, library.read_numba,
            "numba.set_num_threads({})", through=frozenset({"numba"}), fits=_is_number,
            source="https://numba.readthedocs.io/en/stable/user/threading-layer.html",
            why="Compiled loops split sums among this many threads; a different number rounds"
            " differently."),
    Setting("xarray.set_options", "xarray", NUMBERS,
            lambda xarray: process.plain_values(xarray.get_options()), "xarray.set_options({})",
            source="https://docs.xarray.dev/en/stable/generated/xarray.set_options.html"),
    Setting("torch._dynamo.config", "torch._dynamo.config", NUMBERS,
            partial(process.read_attributes,
                    ("assume_static_by_default", "recompile_limit", "suppress_errors")),
            "torch._dynamo.config.{name} = {value}", through=frozenset({"torch"}),
            source="https://github.com/pytorch/pytorch/blob/main/torch/_dynamo/config.py"),
    Setting("torch.backends.mha.fastpath_enabled", "torch", NUMBERS,
            lambda torch: torch.backends.mha.get_fastpath_enabled(),
            "torch.backends.mha.set_fastpath_enabled({})",
            source=f"{_TORCH}backends.html#module-torch.backends.mha",
            why="Transformer layers in eval mode may run in a fused kernel with other rounding."),
    Setting("torch.backends.opt_einsum", "opt_einsum", NUMBERS,
            lambda _: process.read_attributes(
                ("enabled", "strategy"), sys.modules["torch"].backends.opt_einsum
            ),
            "torch.backends.opt_einsum.{name} = {value}", through=frozenset({"torch"}),
            source=f"{_TORCH}backends.html#module-torch.backends.opt_einsum",
            why="`torch.einsum` multiplies three or more tensors in this order."),
    _hooks("torch.nn.modules.module", f"{_TORCH}nn.html#global-hooks-for-module"),
    _hooks("torch.optim.optimizer", f"{_TORCH}optim.html"),
    Setting("torch.set_flush_denormal", "torch", NUMBERS, lambda _: _SMALLEST[0] * 1.0 == 0.0,
            "torch.set_flush_denormal({})",
            source=f"{_TORCH}generated/torch.set_flush_denormal.html",
            why="Numbers near zero are replaced by 0 on CPU."),
    Setting("torch.autograd.set_detect_anomaly", "torch", ERRORS,
            lambda torch: {
                "mode": torch.is_anomaly_enabled(),
                "check_nan": torch.is_anomaly_check_nan_enabled(),
            },
            "torch.autograd.set_detect_anomaly({})",
            source=f"{_TORCH}autograd.html#anomaly-detection"),
    Setting("numpy.set_printoptions", "numpy", TEXT,
            lambda numpy: process.plain_values(numpy.get_printoptions()),
            "numpy.set_printoptions({})",
            keep=lambda numpy: partial(numpy.set_printoptions, **numpy.get_printoptions()),
            source=f"{_NUMPY}set_printoptions.html"),
    Setting("torch.set_printoptions", "torch", TEXT,
            lambda torch: process.plain_values(vars(torch._tensor_str.PRINT_OPTS)),  # noqa: SLF001
            "torch.set_printoptions({})",
            keep=lambda torch: process.keep_contents(vars(torch._tensor_str.PRINT_OPTS)),  # noqa: SLF001
            source=f"{_TORCH}generated/torch.set_printoptions.html"),
    Setting("pandas.options.display", "pandas", TEXT, partial(library.read_pandas, shown=True),
            write=library.write_pandas, keep=library.keep_pandas,
            source=_PANDAS),
    Setting("pandas.options", "pandas", NUMBERS, partial(library.read_pandas, shown=False),
            write=library.write_pandas, keep=library.keep_pandas, source=_PANDAS,
            why="pandas computes with these libraries and types."),
    Setting("polars.Config", "polars", TEXT, process.read_polars, write=process.write_polars,
            source=_POLARS),
    Setting("polars.Config.engine", "polars", NUMBERS,
            partial(process.read_variables, _POLARS_SPLITS),
            write=partial(process.write_variables, _POLARS_SPLITS), source=_POLARS,
            why="This is how Polars splits work, which affects the order of rows and sums."),
    Setting("matplotlib.rcParams", "matplotlib", FIGURES, library.read_rc, through=_DRAWS,
            write=library.write_rc, keep=library.keep_rc,
            absent="default", source="https://matplotlib.org/stable/users/explain/customizing.html"),
    Setting("matplotlib.pyplot.figure", "matplotlib.pyplot", FIGURES, library.read_figures,
            through=_DRAWS | {"matplotlib"},
            write=lambda pyplot, _: pyplot._pylab_helpers.Gcf.figs.clear(),  # noqa: SLF001 -- restored later
            keep=library.keep_figures, fits=operator.not_, source=_PYPLOT),
    Setting("InlineBackend", "matplotlib_inline.config", FIGURES, library.read_inline,
            through=_DRAWS | {"matplotlib"}, write=library.write_inline,
            source="https://github.com/ipython/matplotlib-inline"),
    Setting("IPython.display_formatter", "", TEXT, process.read_formatter,
            write=process.write_formatter, keep=process.keep_formatter,
            source=_IPYTHON),
    Setting("locale.setlocale", "locale", TEXT, lambda locale: locale.setlocale(locale.LC_ALL),
            "locale.setlocale(locale.LC_ALL, {})", source=f"{_PYTHON}locale.html#locale.setlocale"),
    Setting("logging.levels", "logging", TEXT, process.read_logs,
            write=process.write_logs, keep=process.keep_logs, source=f"{_PYTHON}logging.html"),
    Setting("time.tzname", "", LOCAL_TIMES, process.read_time_zone, write=process.write_time_zone,
            source=f"{_PYTHON}time.html#time.tzset"),
    Setting("numpy.seterr", "numpy", ERRORS, lambda numpy: numpy.geterr(), "numpy.seterr({})",
            source=f"{_NUMPY}seterr.html"),
    Setting("warnings.filters", "", ERRORS, process.read_warnings,
            write=process.write_warnings,
            keep=lambda _: process.keep_attributes(warnings, "filters", "showwarning"),
            source=f"{_PYTHON}warnings.html"),
    Setting("sys.setrecursionlimit", "", ERRORS, lambda _: sys.getrecursionlimit(),
            "sys.setrecursionlimit({})", source=f"{_PYTHON}sys.html#sys.setrecursionlimit"),
)  # fmt: skip

BY_NAME = {setting.name: setting for setting in SETTINGS}


# The group of entry points for rows of libraries.
ENTRY_POINTS = "ipytorchseed.libraries"


def register_library(rows: Setting | Call | Iterable[Setting | Call]) -> None:
    """Register settings and nondeterministic calls of a library.

    Args:
        rows: One setting or call, or several.

    Raises:
        TypeError: A row is neither a ``Setting`` nor a ``Call``.
        ValueError: A setting has the name of an existing one.
    """
    for row in (rows,) if isinstance(rows, Setting | Call) else rows:
        if isinstance(row, Call):
            known_calls().calls.append(row)
        elif not isinstance(row, Setting):
            raise TypeError(f"a library's row is a Setting or a Call, not {row!r}")
        elif row.name in BY_NAME:
            raise ValueError(f"there is already a setting called {row.name!r}")
        else:
            BY_NAME[row.name] = row


@lru_cache(maxsize=1)
def _waiting() -> list[EntryPoint]:
    """Return the entry points whose packages were not imported yet."""
    return [*entry_points(ENTRY_POINTS)]


def read_libraries(packages: Collection[str]) -> dict[str, Any]:
    """Return the settings that affect a cell, by name, and the working folder.

    The folder has the key ``folder``. Nothing is imported.

    Args:
        packages: The packages that the cell's code uses, directly or indirectly.
    """
    found: dict[str, Any] = {}
    with suppress(OSError):  # the folder was removed
        found["folder"] = os.getcwd()  # noqa: PTH109 -- a string is stored
    waiting = _waiting()
    for point in [each for each in waiting if each.module.partition(".")[0] in sys.modules]:
        waiting.remove(point)
        load_each([point], register_library, "rows", "out")
    for setting in BY_NAME.values():
        package = setting.package
        if package and package not in packages and setting.through.isdisjoint(packages):
            continue
        module = sys.modules.get(package)
        if package and module is None:
            continue
        try:  # noqa: SIM105 -- before every cell
            found[setting.name] = setting.read(module)
        except Exception:  # noqa: BLE001, S110 -- another version may have it in another place
            pass
    return found


def library_flags() -> Iterator[Flag]:
    """Yield settings of loaded libraries that affect numbers, as flags for reports."""
    for setting in BY_NAME.values():
        if not setting.why or setting.package not in sys.modules:
            continue
        with suppress(Exception):  # another version may have it in another place
            held = setting.read(sys.modules[setting.package])
            values = held if isinstance(held, dict) else {"": held}
            for name in values:
                full, get = f"{setting.name}.{name}".rstrip("."), partial(values.get, name)
                yield Flag(full, get, setting.why, setting.source, setting.set)


def restore_libraries(saved: Mapping[str, Any]) -> None:
    """Restore recorded settings, except those that a library rejects.

    Args:
        saved: The result of ``read_libraries``; other keys are ignored.
    """
    for setting in BY_NAME.values():
        if setting.name in saved and setting.can_be(saved[setting.name]):
            with suppress(Exception):
                setting.set(saved[setting.name])


def keep_libraries() -> process.Undo:
    """Return a function that restores the present settings of all imported libraries.

    If restoring one fails, the others are still restored.
    """
    kept: list[process.Undo] = []
    for setting in BY_NAME.values():
        with suppress(Exception):  # not imported, or another version
            kept.append(setting.kept())

    def undo() -> None:
        for each in reversed(kept):  # warning filters before settings that may warn
            with suppress(Exception):  # ``read_libraries`` shows which failed
                each()

    return undo
