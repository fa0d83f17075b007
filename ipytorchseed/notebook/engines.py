"""``%%seeds --engines``: runs a cell on the engines of an ipyparallel cluster.

The variables that the cell reads are sent once, and stay in the engines' namespaces during the
study. For a name that this kernel does not define, each engine uses its own variable, which
``%%px`` may have defined.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from IPython.core.getipython import get_ipython

from ipytorchseed.cluster.clients import ask, find_client, spread
from ipytorchseed.cluster.packing import import_there, pack
from ipytorchseed.determinism.table import read_flags, restore_flags
from ipytorchseed.errors import LookupFailure
from ipytorchseed.experiment.process import working_folder
from ipytorchseed.notebook.rerun import make_body
from ipytorchseed.studies.body import Body
from ipytorchseed.studies.record import Outcome

Cores = tuple[str, tuple[int, ...]]


# Environment variables by which the user chooses the number of threads.
_CHOSEN = frozenset({"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})


# --------------------------------------------------------------------------------------------------
# In this kernel


def run_on_engines(
    shell: Any,  # noqa: ANN401 -- an InteractiveShell
    body: str,
    seeds: Sequence[int],
    outcomes: dict[int, Outcome],
    tell: Callable[[str], object],
) -> list[str]:
    """Run a cell under seeds on the engines of the connected cluster.

    Args:
        shell: The shell of the cell.
        body: The cell's text.
        seeds: The seeds.
        outcomes: Filled in with the outcome of each seed.
        tell: Called with the number of engines as text, several times a second.

    Returns:
        Notes about the engines, to show to the user.

    Raises:
        LookupFailure: No cluster is connected, or the engines lack what the cell needs.
        KeyboardInterrupt: The user interrupted the runs.
    """
    names, parallel = shell.user_ns, shell.magics_manager.registry.get("ParallelMagics")
    client = find_client([getattr(parallel, "view", None), *names.values()])
    packed = pack(names, {*make_body(shell, body).reads} & names.keys())
    flags = read_flags()
    own = flags.pop("torch.num_threads")  # the engines have their own
    del flags["torch.num_interop_threads"]
    key, notes, where = uuid.uuid4().hex, list[str](), working_folder()

    def done(name: str, came: Outcome | LookupFailure) -> None:
        if isinstance(came, LookupFailure):
            came = Outcome(int(name), error=str(came))
        outcomes[came.seed] = came

    def turn() -> None:
        tell(f"{len(client.ids)} engines")

    try:
        engines, threads = list[int](), list[int]()
        while not threads:
            engines = client.ids
            view = client[engines]
            try:  # functions and classes first, because unpickling the other values needs them
                cores = ask(view, take_code, key, packed.imports, packed.code, packed.left, where)
                shared = Counter(cores)
                threads = ask(view, take_values, key, [packed.values], body, flags, where, shared)
            except LookupFailure:
                if not client.ids or {*engines} <= {*client.ids}:  # else an engine died meanwhile
                    raise
        if {*threads} != {own}:
            each = " to ".join(map(str, sorted({min(threads), max(threads)})))
            notes.append(
                f"torch uses {each} threads on each engine and {own} in this kernel:"
                " the last digits may differ from a study here."
            )
        tasks = {str(seed): (key, seed) for seed in seeds}
        spread(client, run_there, tasks, done=done, told=notes.append, turn=turn, engines=engines)
    finally:
        if client.ids:
            client[:].apply_async(forget, key)
    return notes


# --------------------------------------------------------------------------------------------------
# On an engine


class _Guest(ExitStack):
    """A cell that another kernel sent to this engine.

    ``close`` restores the engine's namespace and threads.

    Attributes:
        body: The cell; set when all values that it reads have arrived.
    """

    body: Body

    def bind(self, values: Mapping[str, object]) -> None:
        """Bind names in the engine's namespace until ``close``."""
        names = _shell().user_ns
        for name, value in values.items():
            if name in names:
                self.callback(names.__setitem__, name, names[name])
            else:
                self.callback(names.pop, name, None)
            names[name] = value


_guests: dict[str, _Guest] = {}


def _shell() -> Any:  # noqa: ANN401 -- typed as optional, but an engine always has one
    return get_ipython()


def take_code(
    key: str, imports: dict[str, str], code: dict[str, object], left: dict[str, str], folder: str
) -> Cores:
    """Receive the modules, functions and classes that a cell reads.

    Args:
        key: The id of the study.
        imports: The imports, by the names that they are bound to.
        code: Functions and classes.
        left: The names that could not be sent, with the reason; this engine must define them.
        folder: The folder to import from, if it exists on this machine.

    Returns:
        The machine's name, and the cores that this engine may use.

    Raises:
        LookupFailure: A name in ``left`` is not defined here.
    """
    forget(key)  # the cell is sent again if another engine died
    _guests[key] = guest = _Guest()
    for name, why in left.items():
        if name not in _shell().user_ns:
            msg = f"{name} cannot be sent to the engines ({why}), and is not defined there"
            raise LookupFailure(f"{msg}: put %%px --local at the top of the cell that makes it")
    here = working_folder()
    with suppress(OSError):
        os.chdir(folder)
    guest.bind({**import_there(imports), **code})
    with suppress(OSError):
        os.chdir(here)
    return _cores()


def take_values(  # noqa: PLR0913, PLR0917 -- what a run needs
    key: str,
    values: list[Mapping[str, object]],
    body: str,
    flags: Mapping[str, object],
    folder: str,
    sharing: Mapping[Cores, int],
) -> int:
    """Receive the other values that a cell reads, and the cell itself.

    Args:
        key: The id of the study.
        values: The values by name, in a list with one item. In a list, they are sent in one piece,
            so objects that the values share stay shared.
        body: The cell's text.
        flags: The flags to set before it runs.
        folder: The working folder, if it exists on this machine.
        sharing: How many engines share the same cores.

    Returns:
        How many threads torch uses in each run, unless the cell changes it: as many as the
        engine uses, but at most its share of the cores if no environment variable sets the number.
    """
    import torch

    guest = _guests[key]
    guest.bind(values[0])
    guest.body = make_body(_shell(), body)
    threads: int = torch.get_num_threads()
    cores = _cores()
    if not _CHOSEN & os.environ.keys():
        threads = max(1, min(threads, len(cores[1]) // sharing[cores]))
        with suppress(ImportError):  # scikit-learn installs it; torch has its own threads
            from threadpoolctl import threadpool_limits

            guest.enter_context(threadpool_limits(threads, user_api="blas"))
    guest.body.prepare = partial(_prepare, {**flags, "torch.num_threads": threads}, folder)
    return threads


def _cores() -> Cores:
    """Return the machine's name, and the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return socket.gethostname(), (*sorted(os.sched_getaffinity(0)),)
    return socket.gethostname(), (*range(os.cpu_count() or 1),)


def _prepare(flags: Mapping[str, object], folder: str) -> None:
    with suppress(OSError):
        os.chdir(folder)
    restore_flags({**read_flags(), **flags})


def run_there(key: str, seed: int) -> Outcome:
    """Run the cell under a seed on this engine."""
    return _guests[key].body.run(seed)


def forget(key: str) -> None:
    """Drop a study, and restore the names that it replaced."""
    _guests.pop(key, _Guest()).close()
