"""Settings of libraries: read, kept and set.

``process_settings`` describes the three kinds of functions.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from types import FunctionType
from typing import Any

from xxhash import xxh3_64_hexdigest

from ipytorchseed.determinism import process_settings as process
from ipytorchseed.determinism.flag import PLAIN
from ipytorchseed.determinism.process_settings import Undo


def read_sklearn(package: Any, *, shown: bool) -> dict[str, Any]:
    """Return scikit-learn's settings for display if ``shown``, else all others."""
    names = {"display", "print_changed_only"}
    config = package.get_config().items()
    return process.plain_values({name: value for name, value in config if (name in names) is shown})


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


# Options of pandas that affect results and the dtypes of columns.
_COMPUTES = frozenset({
    "compute.use_bottleneck", "compute.use_numba", "compute.use_numexpr",
    "future.distinguish_nan_and_na", "future.infer_string", "future.no_silent_downcasting",
    "future.python_scalars", "mode.copy_on_write", "mode.string_storage",
})  # fmt: skip


def read_pandas(pandas: Any, *, shown: bool) -> dict[str, Any]:
    """Return pandas' options for showing tables if ``shown``, else for computing."""

    def is_wanted(name: str) -> bool:
        return name.startswith("display.") if shown else name in _COMPUTES

    options = pandas_options(pandas)
    return process.plain_values({name: options[name] for name in options if is_wanted(name)})


def keep_pandas(pandas: Any) -> Undo:
    """Return a function that restores all options."""
    return partial(write_pandas, pandas, pandas_options(pandas))


def write_pandas(pandas: Any, values: Mapping[str, Any]) -> None:
    """Set the options that differ from ``values``, which were recorded or kept."""
    now = pandas_options(pandas)
    for name, value in values.items():
        held = now.get(name)
        if held is not value and (held if type(held) in PLAIN else str(held)) != value:
            with suppress(ValueError):  # a function, recorded as text
                pandas.set_option(name, value)


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


def write_blas(threadpoolctl: Any, count: int) -> None:
    """Set the threads of every BLAS library."""
    for each in blas_libraries(threadpoolctl):
        each.set_num_threads(count)


def read_accelerator(accelerate: Any) -> dict[str, Any]:
    """Return the state that all ``Accelerator`` objects share; empty if none exists."""
    held = accelerate.state.AcceleratorState._shared_state  # noqa: SLF001 -- the public class creates it
    names = "_mixed_precision", "device", "distributed_type", "num_processes"
    return process.plain_values({name.lstrip("_"): held[name] for name in names if name in held})


def read_pyro(pyro: Any) -> dict[str, str]:
    """Return digests of Pyro's parameters; a parameter may be in no variable."""
    found = {}
    for name, tensor in [*pyro.get_param_store()._params.items()]:  # noqa: SLF001 -- as they are stored
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        found[name] = xxh3_64_hexdigest(flat.view(sys.modules["torch"].uint8).numpy())
    return found


def keep_pyro(pyro: Any) -> Undo:
    """Return a function that restores the parameters: the names and the numbers."""
    store = pyro.get_param_store()
    undos = [process.keep_contents(each) for each in vars(store).values() if type(each) is dict]
    numbers = [(each, each.detach().clone()) for each in store._params.values()]  # noqa: SLF001 -- as read

    def undo() -> None:
        for restore in undos:
            restore()
        for tensor, before in numbers:
            if not tensor.detach().equal(before):
                tensor.detach().copy_(before)

    return undo


_OF_KERAS = ("backend", "floatx", "epsilon", "image_data_format")


def read_keras(keras: Any) -> dict[str, Any]:
    """Return the dtypes and constants that Keras uses for new layers, and its backend."""
    told = {name: getattr(keras.config, name)() for name in _OF_KERAS}
    policy = _keras_state().get("dtype_policy")
    return {**told, "dtype_policy": told["floatx"] if policy is None else policy.name}


def write_keras(keras: Any, values: Mapping[str, Any]) -> None:
    """Set the dtypes and constants of Keras; the backend cannot be changed."""
    now = read_keras(keras)
    for name, value in values.items():
        if name != "backend" and now.get(name) != value:
            getattr(keras.config, f"set_{name}")(value)


def _keras_state() -> dict[str, Any]:
    state = sys.modules["keras.src.backend.common.global_state"]
    return vars(state.GLOBAL_STATE_TRACKER)  # type: ignore[no-any-return]


def read_keras_names(_: object) -> dict[str, int]:
    """Return how many objects Keras has named, for each base name of layers."""
    named = _keras_state().get("object_name_uids", {})
    return {f"names of {name}": count for name, count in named.items()}


def write_keras_names(_: object, values: Mapping[str, int]) -> None:
    """Set the counters from which Keras makes names of layers."""
    held = _keras_state().get("object_name_uids", {})
    held.clear()
    held.update({name.removeprefix("names of "): count for name, count in values.items()})


# torch's dictionaries of hooks for all modules and optimizers, and the functions that fill them.
_HOOKS = {
    "_global_forward_hooks": "register_module_forward_hook",
    "_global_forward_pre_hooks": "register_module_forward_pre_hook",
    "_global_backward_hooks": "register_module_full_backward_hook",
    "_global_backward_pre_hooks": "register_module_full_backward_pre_hook",
    "_global_optimizer_pre_hooks": "register_optimizer_step_pre_hook",
    "_global_optimizer_post_hooks": "register_optimizer_step_post_hook",
}


def read_hooks(module: str, _: object) -> dict[str, Any]:
    """Return the names of the hooks in a module, by the function that adds such hooks."""
    held = vars(sys.modules[module])
    told = {}
    for name, how in _HOOKS.items():
        if hooks := [*held.get(name, {}).values()]:  # no code of the user's runs
            names = (it.__name__ if type(it) is FunctionType else "a hook" for it in hooks)
            told[how] = ", ".join(names)
    return told


def keep_hooks(module: str) -> Undo:
    """Return a function that restores the hooks for all modules, or all optimizers."""
    owner = sys.modules[module]
    names = [name for name in vars(owner) if name.startswith("_global_")]
    return process.keep_attributes(owner, *names)


def remove_hooks(module: str, *_: object) -> None:
    """Remove the hooks: recorded ones cannot be created from their names."""
    for name, held in vars(sys.modules[module]).items():
        if name.startswith("_global_") and hasattr(held, "clear"):
            held.clear()


def read_numba(parallel: Any) -> int:
    """Return how many threads compiled loops use, or will use once they are started."""
    started = parallel._is_initialized  # noqa: SLF001 -- the public function starts them
    return int(parallel.get_num_threads() if started else parallel.config.NUMBA_NUM_THREADS)


# --------------------------------------------------------------------------------------------------
# Figures

# Prefixes of matplotlib's settings for windows, keys and animations.
NOT_DRAWN = (
    "_", "animation.", "backend", "docstring.", "figure.max_open_warning", "figure.raise_window",
    "interactive", "keymap.", "macosx.", "savefig.directory", "tk.", "toolbar", "webagg.",
)  # fmt: skip


# The values of matplotlib's settings at the last reading, and the result.
_known: tuple[list[Any], dict[str, Any]] = [], {}


def _drawn(matplotlib: Any) -> dict[str, Any]:
    """Return a copy of the settings, except those for windows, keys and animations."""
    return {
        name: [*each] if type(each) is list else each
        for name, each in dict.items(matplotlib.rcParams)  # without warnings for old names
        if not name.startswith(NOT_DRAWN)
    }


def read_rc(matplotlib: Any) -> dict[str, Any]:
    """Return the settings that differ from matplotlib's defaults."""
    global _known  # noqa: PLW0603 -- settings belong to the process; there are 300, which rarely change
    held = dict.values(matplotlib.rcParams)
    values = [[*each] if type(each) is list else each for each in held]
    if values != _known[0]:
        usual = matplotlib.rcParamsDefault
        now = _drawn(matplotlib).items()
        moved = {name: value for name, value in now if value != dict.get(usual, name)}
        _known = values, process.plain_values(moved)
    return _known[1]


def keep_rc(matplotlib: Any) -> Undo:
    """Return a function that restores settings, without validating the values."""
    return partial(dict.update, matplotlib.rcParams, _drawn(matplotlib))


def write_rc(matplotlib: Any, values: Mapping[str, Any]) -> None:
    """Set the settings of a record, and all others to their defaults."""
    now = read_rc(matplotlib)
    usual = {n: dict.get(matplotlib.rcParamsDefault, n) for n in now.keys() - values.keys()}
    dict.update(matplotlib.rcParams, usual)
    for name, value in values.items():
        if now.get(name) != value and not name.startswith(NOT_DRAWN):
            matplotlib.rcParams[name] = process.value_of(value)


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
    undos = [process.keep_contents(each) for each in (*axes, *stacks, *drawn)]

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
    told = {n: sorted(each) if type(each) is set else each for n, each in moved.items()}
    return process.plain_values(told)


def write_inline(inline: Any, values: Mapping[str, Any]) -> None:
    """Set the settings of the inline backend."""
    kind = inline.InlineBackend
    if kind._instance is None:  # noqa: SLF001 -- ``instance()`` creates it
        return
    now, made = read_inline(inline), kind.instance()
    for name in PICTURES:
        if now.get(name) != values.get(name):
            usual = getattr(kind, name).default()
            value = process.value_of(values[name]) if name in values else usual
            setattr(made, name, {*value} if type(usual) is set else value)
