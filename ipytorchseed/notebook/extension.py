"""Loads the extension into a shell, and unloads it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell

from ipytorchseed.errors import LookupFailure
from ipytorchseed.notebook.magic import Magic, add_completer
from ipytorchseed.notebook.state import MakeButton, Opener, State
from ipytorchseed.notebook.transform import deterministic_cells
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.rng.seeds import listeners

_loaded: WeakKeyDictionary[Any, Extension] = WeakKeyDictionary()

# Prefixes of ids in VS Code's Interactive Window, where each run has a new id.
_EACH_RUN = lazy_pattern(r"vscode-interactive|[^#]*\.interactive#")

# Kind, name, and the module that defines the command (as ``line`` or ``cell``).
MAGICS = (
    ("line", "seed", "ipytorchseed.notebook.seed_magic"),
    ("line", "rng", "ipytorchseed.notebook.rng_magic"),
    ("line", "why", "ipytorchseed.notebook.why_magic"),
    ("line", "check", "ipytorchseed.notebook.check_magic"),
    ("line", "replay", "ipytorchseed.notebook.replay"),
    ("line", "deterministic", "ipytorchseed.notebook.deterministic_magic"),
    ("cell", "deterministic", "ipytorchseed.notebook.deterministic_magic"),
    ("cell", "seeds", "ipytorchseed.notebook.seeds_magic"),
)


class Extension:
    """The additions to a shell: events, a transformer, magics and completions.

    Args:
        state: The state that the additions share.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self._magics: list[Magic] = []
        self._undo = ExitStack()
        held, guard = state.interrupts, state.guard
        self._events: dict[str, Callable[..., None]] = {
            "pre_execute": guard(self._pre_execute),  # the guard records interrupts
            "pre_run_cell": held.held(guard(self._pre_run_cell), held.before_cell),
            "post_execute": guard(self._post_execute),
            "post_run_cell": held.held(guard(self._post_run_cell), held.after_cell),
        }

    def attach(self) -> None:
        """Add events, transformers, magics and completions, and register how to undo each."""
        state, shell, undo = self.state, self.state.shell, self._undo.callback

        def add(holder: object, name: str, ours: object) -> None:
            getattr(holder, name).append(ours)
            undo(_unless_gone, lambda: getattr(holder, name).remove(ours))  # a list may be rebound

        add(shell, "configurables", state.options)
        add(shell, "input_transformers_cleanup", deterministic_cells)
        listeners.append(state.note_seed)
        undo(listeners.remove, state.note_seed)
        for event, callback in self._events.items():
            shell.events.register(event, callback)
            undo(_unless_gone, shell.events.unregister, event, callback)
        for kind, name, module in MAGICS:
            table = shell.magics_manager.magics[kind]
            magic = Magic(kind, name, module, state)
            undo(_put_back, table, magic, table.get(name))
            self._magics.append(magic)
            table[name] = magic
        signs = [magic.sign for magic in self._magics]
        undo(_unless_gone, add_completer(shell, signs, self._words))
        if hasattr(shell, "kernel"):
            state.tracking.get_ready()

    def detach(self) -> None:
        """Remove all additions, and end the scopes and rules that are still active."""
        state = self.state
        state.runs.end_all()
        state.guard.call(state.stop_check)
        if state.viewer is not None:
            state.guard.call(state.viewer.close)
        state.tracking.stop()
        from ipytorchseed.rng.torch_random import AWAITED  # too much to import at load

        ended = [] if state.seeding.each is None else [f"%seed each {state.seeding.each}"]
        ended += filter(None, [end() for end in state.at_unload])
        ended += ["the wait to seed torch at its import"] if AWAITED.cancel() else []
        if ended:  # a later load does not restore them
            sys.stdout.write(f"ipytorchseed is unloaded, which ends {' and '.join(ended)}.\n")
        self._undo.close()

    def _pre_execute(self) -> None:
        state = self.state
        if not state.runs.busy:  # earlier interrupts were for the previous cell
            state.interrupts.forget()
        state.runs.pre_execute()

    def _pre_run_cell(self, info: ExecutionInfo) -> None:
        state = self.state
        state.runs.pre_run_cell(info)
        if state.runs.nested:
            return
        me = threading.get_ident()
        with state.lock:
            alive = {each.ident for each in threading.enumerate()} if state.threads else set()
            state.threads &= alive  # a thread that died did not report the end of its cell
            state.runs.overlaps = bool(state.threads - {me})
            state.threads.add(me)
        ident = _cell_id(state.shell, info)
        seed = state.seeding.for_cell(ident, str(info.raw_cell))
        if state.runs.overlaps:
            state.tracking.note_overlap()
            if seed is not None:
                state.apply(seed, "each")
            return
        prepare = None if seed is None else partial(state.seeding.apply, seed)
        state.interrupts.impatient(state.tracking.begin)(info, ident, prepare)
        if seed is not None:
            state.tracking.note_seed(seed, "each")

    def _post_execute(self) -> None:
        state = self.state
        state.runs.post_execute()
        if not state.runs.busy:  # a callback of a widget or a silent run
            state.interrupts.forget()

    def _post_run_cell(self, result: ExecutionResult | None) -> None:
        state = self.state
        if not (state.runs.nested or state.runs.overlaps):
            # our output is not the cell's
            state.guard.call(state.tracking.capture.stop)
        state.guard.call(state.runs.post_run_cell, result)
        try:
            self._after_run(result)
        finally:
            if not state.runs.busy:
                state.threads.discard(threading.get_ident())
            self._stay_last()

    def _stay_last(self) -> None:
        """Move our ``pre_run_cell`` callback to the end, after that of ``%autoreload``."""
        events, ours = self.state.shell.events, self._events["pre_run_cell"]
        callbacks = events.callbacks["pre_run_cell"]
        if ours in callbacks and callbacks[-1] is not ours:
            events.unregister("pre_run_cell", ours)
            events.register("pre_run_cell", ours)

    def _after_run(self, result: ExecutionResult | None) -> None:
        """Run the steps after a run, each one even if an earlier one failed."""
        state, guard = self.state, self.state.guard
        if state.runs.current is None:
            for call in state.before_record:
                guard.call(call)
        end, run = state.interrupts.impatient(state.tracking.end), None
        if not (state.runs.busy or state.runs.overlaps):
            run = guard.call(end, result)
        for follow in state.after_record:
            guard.call(follow, result, run)
        guard.call(state.record_observed, run)
        if run is not None and state.options.explain_on_change:
            why_magic = import_module("ipytorchseed.notebook.why_magic")
            guard.call(why_magic.explain_change, state, run)
        if state.viewer is not None and not state.runs.busy:
            state.threads.discard(threading.get_ident())
            guard.call(state.viewer.ran, run)

    def _words(self, line: str) -> tuple[str, list[str]] | None:
        sign, typed, line = line.lstrip().partition(" ")
        completers = [magic.complete for magic in self._magics if magic.sign == sign and typed]
        return self.state.guard.call(completers[0], line) if completers else None


def _cell_id(shell: InteractiveShell, info: ExecutionInfo) -> str | None:
    """Return the front end's id of the cell; None if it sends no lasting id."""
    told: Any = getattr(info, "cell_id", None)
    if not told:
        told = getattr(shell, "parent_header", None)
        for key in ("metadata", "colab", "cell_id"):
            told = told.get(key) if isinstance(told, dict) else None
    return str(told) if told and not _EACH_RUN.match(str(told)) else None


def _unless_gone(remove: Callable[..., object], *ours: object) -> None:
    with suppress(ValueError):  # another tool may have cleared the list
        remove(*ours)


def _put_back(table: dict[str, Any], magic: Magic, before: object) -> None:
    """Restore the magic that ours replaced, unless ours was replaced too."""
    if table.get(magic.name) is magic:
        table.pop(magic.name)
        if before is not None:
            table[magic.name] = before


def load(shell: InteractiveShell, opener: Opener = None, make_button: MakeButton = None) -> None:
    """Load the extension into a shell, unless it is already loaded.

    Args:
        shell: The running shell.
        opener: Creates the live viewer on first use.
        make_button: Creates buttons.
    """
    if shell not in _loaded:
        extension = Extension(State(shell, opener, make_button))
        extension.attach()
        _loaded[shell] = extension


def unload(shell: InteractiveShell) -> None:
    """Unload the extension, and restore the shell."""
    if shell in _loaded:
        _loaded.pop(shell).detach()


def running() -> State | None:
    """Return the extension's state in the running shell; None if no shell runs.

    Raises:
        LookupFailure: The extension is not loaded in the shell.
    """
    shell = get_ipython()
    if shell is not None and shell not in _loaded:
        raise LookupFailure("ipytorchseed is not loaded here: %load_ext ipytorchseed")
    return None if shell is None else _loaded[shell].state
