"""``%%seeds --engines``: the runs of a cell on the engines of an ipyparallel cluster.

The names that the cell reads are sent once, and stand in the engines' namespaces for the time of
the study; those that are not here are found there, as ``%%px`` made them.
"""

from __future__ import annotations

import os
import sys
import uuid
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython

from ipytorchseed.cluster.clients import ask, find_client
from ipytorchseed.cluster.packing import import_there, pack
from ipytorchseed.cluster.spreading import spread
from ipytorchseed.determinism.table import read_flags, restore_flags
from ipytorchseed.errors import LookupFailure, ReplayError
from ipytorchseed.notebook.cell_body import make_body
from ipytorchseed.notebook.progress import bar
from ipytorchseed.session.sandbox import working_folder
from ipytorchseed.studies.body import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ipytorchseed.cluster.packing import Packed
    from ipytorchseed.notebook.progress import Progress
    from ipytorchseed.notebook.state import State
    from ipytorchseed.studies.body import Body

_THREADS = ("torch.num_threads", "torch.num_interop_threads")
"""Flags that are left to the engines, several of which may share the cores of a machine."""


# --------------------------------------------------------------------------------------------------
# Here


def run_on_engines(
    state: State, body: str, seeds: Sequence[int], progress: Progress, *, generators: bool
) -> tuple[list[Outcome], list[str]]:
    """Run a cell under seeds on the engines of the connected cluster.

    Returns:
        What each seed gave, in the order of ``seeds``; and what is to be told of engines.

    Raises:
        LookupFailure: No cluster is connected, or the engines lack what the cell needs.
        ReplayError: The user interrupted it.
    """
    shell: Any = state.shell
    names, parallel = shell.user_ns, shell.magics_manager.registry.get("ParallelMagics")
    client = find_client([getattr(parallel, "view", None), *names.values()])
    packed = pack(names, {*make_body(shell, body).reads} & names.keys())
    key, outcomes, notes = uuid.uuid4().hex, dict[str, Outcome](), list[str]()

    def done(name: str, came: Outcome | LookupFailure) -> None:
        if isinstance(came, LookupFailure):
            came = Outcome(int(name), error=str(came))
        outcomes[name] = came

    def turn() -> None:
        progress.tell(bar(len(outcomes), len(seeds), f"{len(client.ids)} engines"))

    try:
        engines = _send(client, key, body, packed, generators=generators)
        tasks = {str(seed): (key, seed) for seed in seeds}
        spread(client, run_there, tasks, done=done, told=notes.append, turn=turn, engines=engines)
    except KeyboardInterrupt:
        msg = f"interrupted after {len(outcomes)} of {len(seeds)} seeds; everything is as before"
        raise ReplayError(msg) from None
    finally:
        if client.ids:
            client[:].apply_async(forget, key)
    return [outcomes[str(seed)] for seed in seeds], notes


def _send(
    client: Any,  # noqa: ANN401 -- an ipyparallel.Client
    key: str,
    body: str,
    packed: Packed,
    *,
    generators: bool,
) -> list[int]:
    """Send a cell and what it reads: first code, by which values are understood.

    Returns:
        The engines that have it.

    Raises:
        LookupFailure: Something cannot be sent, and is not there either.
    """
    flags = read_flags() if "torch" in sys.modules else {}
    kept = {name: value for name, value in flags.items() if name not in _THREADS}
    where = working_folder()
    while True:
        engines: list[int] = client.ids
        try:
            ask(client[engines], take_code, key, packed.imports, packed.code, packed.left, where)
            ask(client[engines], take_values, key, [packed.values], body, kept, where, generators)
        except LookupFailure:
            if client.ids and not {*engines} <= {*client.ids}:  # one died at it
                continue
            raise
        return engines


# --------------------------------------------------------------------------------------------------
# On an engine

_GONE = object()


class _Guest:
    """A cell of another kernel, and the names that it was sent with.

    Attributes:
        body: The cell; None until all is there.
    """

    def __init__(self) -> None:
        self.body: Body | None = None
        self._before: dict[str, object] = {}

    def bind(self, values: Mapping[str, object]) -> None:
        """Bind names in the engine's namespace, until ``leave``."""
        names = _shell().user_ns
        self._before = {name: names.get(name, _GONE) for name in values} | self._before
        names.update(values)

    def leave(self) -> None:
        """Bind the names as they were."""
        names = _shell().user_ns
        for name, value in self._before.items():
            if value is _GONE:
                names.pop(name, None)
            else:
                names[name] = value


_guests: dict[str, _Guest] = {}


def _shell() -> Any:  # noqa: ANN401 -- IPython types it as possibly None, which an engine's is not
    return get_ipython()


def take_code(
    key: str,
    imports: Mapping[str, str],
    code: Mapping[str, object],
    left: Mapping[str, str],
    folder: str,
) -> None:
    """Take the modules, functions and classes that a cell reads.

    Args:
        key: What the study is known by.
        imports: What is imported, by the names that it is bound to.
        code: Functions and classes.
        left: What could not be sent, and why: it has to be here.
        folder: From which to import, where that is here as well.

    Raises:
        LookupFailure: Some of that is not.
    """
    forget(key)  # where it is sent again, as another engine died
    _guests[key] = guest = _Guest()
    lacking = {name: why for name, why in left.items() if name not in _shell().user_ns}
    for name, why in lacking.items():
        msg = f"{name} cannot be sent to the engines ({why}), and is not there: put %%px --local"
        raise LookupFailure(f"{msg} on top of the cell that makes it")
    here = working_folder()
    with suppress(OSError):
        os.chdir(folder)
    guest.bind({**import_there(imports), **code})
    with suppress(OSError):
        os.chdir(here)


def take_values(  # noqa: PLR0913, PLR0917 -- what a run needs
    key: str,
    values: list[Mapping[str, object]],
    body: str,
    flags: Mapping[str, object],
    folder: str,
    generators: bool,  # noqa: FBT001 -- sent by position
) -> None:
    """Take what else a cell reads, and the cell.

    Args:
        key: What the study is known by.
        values: By name, in a list: so they are sent as one, and share what they shared.
        body: The cell's text.
        flags: Under which it runs.
        folder: In which it runs, where that is here as well.
        generators: Also seed the generators that it reads.
    """
    _guests[key].bind(values[0])
    prepare = partial(_prepare, flags, folder)
    _guests[key].body = make_body(_shell(), body, generators=generators, prepare=prepare)


def _prepare(flags: Mapping[str, object], folder: str) -> None:
    with suppress(OSError):
        os.chdir(folder)
    if flags:
        restore_flags({**read_flags(), **flags})


def run_there(key: str, seed: int) -> Outcome:
    """Run the cell under a seed, on the engine that is asked."""
    body = _guests[key].body
    assert body is not None  # noqa: S101 -- nobody asks before `take_values`
    return body.run(seed)


def forget(key: str) -> None:
    """Forget a study, and bind the names that it was sent with as they were."""
    guest = _guests.pop(key, None)
    if guest is not None:
        guest.leave()
