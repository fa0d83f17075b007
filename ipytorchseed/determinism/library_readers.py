"""Reads settings of libraries as JSON values. No code of the user runs."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any

from xxhash import xxh3_64_hexdigest

from ipytorchseed.determinism.flag import PLAIN


def plain_values(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return settings as JSON values, and other values as text."""
    return {
        str(name): value if type(value) in PLAIN else str(value) for name, value in values.items()
    }


def read_sklearn(package: Any, *, shown: bool) -> dict[str, Any]:
    """Return scikit-learn's settings: those for showing estimators, or the others."""
    config = plain_values(package.get_config())
    names = {"display", "print_changed_only"}
    return {name: value for name, value in config.items() if (name in names) is shown}


def pandas_options(pandas: Any) -> dict[str, Any]:
    """Return all options of pandas by name."""
    found: dict[str, Any] = {}
    groups = [("", pandas._config.config._global_config)]  # noqa: SLF001 -- access by name may warn
    for prefix, group in groups:
        for name, value in group.items():
            if type(value) is dict:
                groups.append((f"{prefix}{name}.", value))
            else:
                found[prefix + name] = value
    return found


def read_pandas_display(pandas: Any) -> dict[str, Any]:
    """Return the options by which pandas shows tables."""
    display = pandas._config.config._global_config["display"]  # noqa: SLF001 -- a copy takes 1 ms
    return plain_values({name: each for name, each in display.items() if type(each) is not dict})


# Options of pandas that affect results and the dtypes of columns.
_COMPUTES = {
    "compute": ("use_bottleneck", "use_numba", "use_numexpr"),
    "future": ("distinguish_nan_and_na", "infer_string", "no_silent_downcasting", "python_scalars"),
    "mode": ("copy_on_write", "string_storage"),
}


def read_pandas(pandas: Any) -> dict[str, Any]:
    """Return the options by which pandas computes."""
    held = pandas._config.config._global_config  # noqa: SLF001 -- as above
    return plain_values(
        {
            f"{group}.{name}": held[group][name]
            for group, names in _COMPUTES.items()
            for name in names
            if name in held.get(group, ())
        }
    )


def read_variables(prefixes: tuple[str, ...], _: object) -> dict[str, str]:
    """Return the environment variables with these prefixes."""
    return {name: value for name, value in os.environ.items() if name.startswith(prefixes)}


def read_attributes(names: Iterable[str], config: Any) -> dict[str, Any]:
    """Return settings that are attributes of an object, if it has them."""
    return plain_values({name: getattr(config, name) for name in names if hasattr(config, name)})


# The packages loaded at the last search for BLAS libraries, and its result. A search takes 2 ms.
_blas: tuple[tuple[bool, ...], list[Any]] = (), []


def blas_libraries(threadpoolctl: Any) -> list[Any]:
    """Return threadpoolctl's controllers of the loaded BLAS libraries."""
    global _blas  # noqa: PLW0603 -- libraries belong to the process, and are never unloaded
    loaded = tuple(name in sys.modules for name in ("numpy", "scipy.linalg", "torch", "sklearn"))
    if loaded != _blas[0]:
        every = threadpoolctl.ThreadpoolController().lib_controllers
        _blas = loaded, [each for each in every if each.user_api == "blas"]
    return _blas[1]


def read_blas(threadpoolctl: Any) -> int | str:
    """Return the number of threads of BLAS, or text if its libraries differ."""
    counts = [each.num_threads for each in blas_libraries(threadpoolctl)]
    return counts[0] if len({*counts}) == 1 else ", ".join(map(str, counts))


def read_accelerator(accelerate: Any) -> dict[str, Any]:
    """Return the state that all ``Accelerator`` share; empty before the first."""
    held = accelerate.state.AcceleratorState._shared_state  # noqa: SLF001 -- asking makes it
    names = "_mixed_precision", "device", "distributed_type", "num_processes"
    return plain_values({name.lstrip("_"): held[name] for name in names if name in held})


def read_mlflow(fluent: Any) -> list[str]:
    """Return the ids of the runs that are active in this thread."""
    return [str(run.info.run_id) for run in fluent._active_run_stack.get()]  # noqa: SLF001 -- the public function asks the server


def read_pyro(pyro: Any) -> dict[str, str]:
    """Return digests of Pyro's parameters, which may be in no variable."""
    held = [*pyro.get_param_store()._params.items()]  # noqa: SLF001 -- as they are stored
    return {name: _digest(value) for name, value in held}


def _digest(tensor: Any) -> str:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return xxh3_64_hexdigest(flat.view(sys.modules["torch"].uint8).numpy())


_OF_KERAS = ("backend", "floatx", "epsilon", "image_data_format")


def read_keras(keras: Any) -> dict[str, Any]:
    """Return the dtypes and constants that Keras uses for new layers, and its backend."""
    told = {name: getattr(keras.config, name)() for name in _OF_KERAS}
    state = sys.modules.get("keras.src.backend.common.global_state")
    policy = getattr(getattr(state, "GLOBAL_STATE_TRACKER", None), "dtype_policy", None)
    return {**told, "dtype_policy": told["floatx"] if policy is None else policy.name}


def keras_names() -> dict[str, int]:
    """Return how many objects of each name Keras has named, as it counts them."""
    state = sys.modules["keras.src.backend.common.global_state"]
    found: dict[str, int] = state.GLOBAL_STATE_TRACKER.__dict__.get("object_name_uids", {})
    return found


def read_keras_names(_: object) -> dict[str, int]:
    """Return the counters by which Keras names layers that have no name."""
    return {f"names of {name}": count for name, count in keras_names().items()}


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


def read_figures(pyplot: Any) -> dict[str, Any]:
    """Return the content of pyplot's figures, and the current figure."""
    managers = pyplot._pylab_helpers.Gcf.figs  # noqa: SLF001 -- pyplot's functions may create one
    figures = {number: vars(each.canvas.figure) for number, each in [*managers.items()]}
    counts = {
        number: sum(len(vars(axes)["_children"]) for axes in [*held["_localaxes"]])
        for number, held in figures.items()  # its methods may be the user's
    }
    told = {f"figure {n}": f"{count} artist{'s' * (count != 1)}" for n, count in counts.items()}
    return told | ({"current figure": [*counts][-1]} if counts else {})


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


FORMATS = ("float_format", "max_seq_length", "max_width", "pprint")


def _shell() -> Any:
    return sys.modules["IPython.core.interactiveshell"].InteractiveShell._instance  # noqa: SLF001 -- no code of the user's runs


def formatter_traits() -> dict[str, Any] | None:
    """Return what the formatter of results holds; None before the first result."""
    made = _shell().display_formatter._trait_values.get("formatters")  # noqa: SLF001 -- asking makes them
    return None if made is None else made["text/plain"]._trait_values  # noqa: SLF001 -- as above


def read_formatter(_: object) -> dict[str, Any]:
    """Return the format of results, which ``%precision`` and ``%pprint`` set."""
    values = formatter_traits()
    if values is None:
        kind = sys.modules["IPython.core.formatters"].PlainTextFormatter
        values = {name: getattr(kind, name).default_value for name in FORMATS}
        values |= _shell().config.get("PlainTextFormatter", {})
    return plain_values({name: values.get(name) for name in FORMATS})


def read_dialects(csv: Any) -> dict[str, Any]:
    """Return the format of each registered dialect, by its name."""
    known = {name: csv.get_dialect(name) for name in csv.list_dialects()}
    return {
        name: repr([getattr(each, part) for part in OF_DIALECTS]) for name, each in known.items()
    }


OF_DIALECTS = (
    "delimiter", "quotechar", "escapechar", "skipinitialspace", "quoting", "strict", "doublequote",
    "lineterminator",
)  # fmt: skip


def loggers(logging: Any) -> dict[str, Any]:
    """Return the loggers by name."""
    known = {"root": logging.root, **dict.copy(logging.root.manager.loggerDict)}
    return {name: each for name, each in known.items() if isinstance(each, logging.Logger)}


def read_logs(logging: Any) -> dict[str, Any]:
    """Return the level and handlers of each logger that has some."""
    told = {
        name: ", ".join(
            [logging.getLevelName(log.level)] * bool(log.level)
            + [type(each).__name__ for each in log.handlers]
        )
        for name, log in loggers(logging).items()
        if log.level or log.handlers
    }
    return {**told, "disable": logging.root.manager.disable}


def read_umask(_: object) -> str | None:
    """Return the umask from /proc, since ``os.umask`` also sets it."""
    file = os.open("/proc/self/status", os.O_RDONLY)
    try:
        begin = os.read(file, 256).decode("ascii", "replace")  # its second line
    finally:
        os.close(file)
    return begin.partition("Umask:")[2].split("\n")[0].strip() or None


def read_time_zone(_: object) -> dict[str, str]:
    """Return ``TZ`` if it is set, and the names of the present time zone."""
    told = {"tzname": " ".join(time.tzname)}
    return {**told, "TZ": os.environ["TZ"]} if "TZ" in os.environ else told


# torch's dictionaries of hooks for all modules and optimizers, and what registers them.
_HOOKS = {
    "_global_forward_hooks": "register_module_forward_hook",
    "_global_forward_pre_hooks": "register_module_forward_pre_hook",
    "_global_backward_hooks": "register_module_full_backward_hook",
    "_global_backward_pre_hooks": "register_module_full_backward_pre_hook",
    "_global_optimizer_pre_hooks": "register_optimizer_step_pre_hook",
    "_global_optimizer_post_hooks": "register_optimizer_step_post_hook",
}


def read_hooks(module: str, _: object) -> dict[str, Any]:
    """Return the names of hooks in a module, by the function that registers them."""
    held = vars(sys.modules[module])
    return {
        how: ", ".join(
            hook.__name__ if type(hook) is FunctionType else "a hook"  # no code of the user's runs
            for hook in [*held[name].values()]
        )
        for name, how in _HOOKS.items()
        if held.get(name)
    }


def read_arguments(_: object) -> list[str]:
    """Return the arguments of the process, without a kernel's connection file."""
    given = [*sys.argv] if type(sys.argv) is list else []
    own = any("ipykernel" in each or "kernel-" in each for each in given if type(each) is str)
    return [] if own else [each for each in given if type(each) is str]


def read_warnings(_: object) -> dict[str, str]:
    """Return the classes of warnings that are raised as errors."""
    raised = (each for each in warnings.filters if each[0] == "error")
    return {getattr(each[2], "__name__", str(each[2])): "raised" for each in raised}
