"""To a cell, a kernel with the extension looks the same, except for a known list."""

from __future__ import annotations

import os
from pathlib import Path

from tests.kernel import Kernel

LOOK = """
import asyncio, atexit, builtins, contextlib, gc, io, logging, os, random, secrets, signal, socket
import subprocess, sys, tempfile, threading, time, uuid, warnings
import torch

def kind_of(value):
    return getattr(value, "__qualname__", type(value).__name__)

def look():
    shell = get_ipython()
    lists = {
        "module": {name.partition(".")[0] for name in sys.modules},
        "numpy module": [name for name in sys.modules if name.startswith("numpy.")],
        "finder": map(kind_of, sys.meta_path),
        "path hook": map(kind_of, sys.path_hooks),
        "path importer": [kind_of(each) for each in sys.path_importer_cache.values()],
        "warnings filter": warnings.filters,
        "thread": [each.name for each in threading.enumerate()],
        "thread hook": [threading.gettrace(), threading.getprofile(), threading.excepthook],
        "trace": [sys.gettrace(), sys.getprofile(), sys.get_asyncgen_hooks()],
        "signal": [(each, kind_of(signal.getsignal(each))) for each in signal.valid_signals()],
        "hook": [kind_of(getattr(sys, each)) for each in dir(sys) if each.endswith("hook")],
        "stream": [kind_of(each) for each in (sys.stdin, sys.stdout, sys.stderr)],
        "sys": dir(sys),
        "flags": [sys.flags, sys.getrecursionlimit(), sys.getswitchinterval()],
        "gc": [*map(kind_of, gc.callbacks), gc.isenabled(), gc.get_threshold()],
        "atexit": [atexit._ncallbacks()],
        "event loop": [type(asyncio.get_event_loop_policy()), type(asyncio.get_event_loop())],
        "logging": [*map(kind_of, logging.root.handlers), logging.root.level],
        "logger": logging.root.manager.loggerDict,
        "environment": os.environ,
        "name": [name for name in shell.user_ns if not name.startswith("_i")],
        "type of a name": [type(shell.user_ns[name]) for name in ("In", "Out", "_", "_dh")],
        "extension": shell.extension_manager.loaded,
        "magic": [name for all in shell.magics_manager.magics.values() for name in all],
        "event": [kind_of(call) for all in shell.events.callbacks.values() for call in all],
        "transformer": map(kind_of, shell.input_transformers_cleanup + shell.input_transformers_post),
        "transformer of trees": map(kind_of, shell.ast_transformers),
        "configurable": map(kind_of, shell.configurables),
        "torch hook": [name for name, value in vars(torch.nn.modules.module).items()
                       if name.startswith("_global_") and name.endswith("hooks") and value],
    }
    names = "builtins gc io os random secrets socket subprocess sys tempfile time torch uuid".split()
    for name, owner in {"shell": shell, **{name: sys.modules[name] for name in names}}.items():
        held = vars(owner).items()
        lists[name] = [f"{name}: {type(value).__name__}" for name, value in held if callable(value)]
    if os.path.isdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            paths = [os.path.realpath(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")]
            lists["file"] = [os.path.basename(path) for path in paths if "ledger" in path]
    return {f"{kind} {each}" for kind, all in lists.items() for each in [*all]}
"""

# Functions that we replace, since no event reports their calls.
WATCHED = [
    "builtins open",
    "io open",
    *(
        f"os {name}"
        for name in (
            "listdir", "mkdir", "open", "posix_spawn", "remove", "rename", "replace", "rmdir",
            "scandir", "system", "truncate", "unlink", "urandom",
        )
        if hasattr(os, name)
    ),
    "random _urandom",
    *(["subprocess _fork_exec"] if os.name == "posix" else []),
]  # fmt: skip

# What a cell sees only with the extension, by a word of its paragraph in ``docs/limits.md``.
DIFFERENCES = {
    "functions that open and change files": {f"{name}: function" for name in WATCHED},
    "`sys.meta_path`": {"finder ImportWatch"},
    "`sys.modules`": {"module ipytorchseed", "module msgspec", "module xxhash"},
    "`numpy.random`": {
        f"numpy module numpy.random{name}"
        for name in (
            "", "._bounded_integers", "._common", "._generator", "._mt19937", "._pcg64",
            "._philox", "._pickle", "._sfc64", ".bit_generator", ".mtrand",
        )
    },
    "magics": {f"magic {name}" for name in ("check", "deterministic", "replay", "rng", "seed", "seeds", "why")},
    "ledger": {f"file ledger.sqlite{end}" for end in ("", "-shm", "-wal")},
    "callbacks": {
        "extension ipytorchseed", "configurable IPyTorchSeed", "configurable ExtensionMagics",
        "event Extension._post_run_cell", "event Extension._pre_run_cell",
        "event Extension._post_execute", "event Extension._pre_execute",
        "transformer deterministic_cells", "shell _showtraceback: function",
    },
}  # fmt: skip


def _seen(folder: Path, *first: str) -> set[str]:
    """Return what a cell sees of its kernel, after other cells."""
    with Kernel(folder, cold=True) as kernel:
        for code in (*first, LOOK, "import random\n_; seen = '\\n'.join(look())"):
            reply = kernel.run(code)
            assert reply.error is None, reply.error
        return {*kernel.value("seen").splitlines()}


def test_a_cell_sees_no_more_of_the_extension_than_is_documented(tmp_path):
    """Modules, hooks, handlers, functions, threads, files and names are compared."""
    folders = [tmp_path / name for name in ("without", "loaded")]
    for folder in folders:
        folder.mkdir()
    without, loaded = _seen(folders[0]), _seen(folders[1], "%load_ext ipytorchseed")
    expected = set().union(*DIFFERENCES.values())
    if not Path("/proc/self/fd").is_dir():
        expected -= DIFFERENCES["ledger"]
    assert loaded - without == expected
    originals = {f"{name}: builtin_function_or_method" for name in WATCHED}
    assert without - loaded == {*originals, "shell _showtraceback: method"}


def test_each_difference_is_documented():
    """The documentation has a paragraph on what a cell can see of the extension."""
    text = Path(__file__).parents[2].joinpath("docs/limits.md").read_text(encoding="utf-8")
    paragraph = text.partition("## What a cell can notice")[2].partition("\n**")[0]
    assert [word for word in DIFFERENCES if word not in " ".join(paragraph.split())] == []
