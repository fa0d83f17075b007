"""The extension: what it adds to a shell, and takes away again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from IPython.core.completer import SimpleCompletion, context_matcher

from ipytorchseed.errors import LookupFailure
from ipytorchseed.notebook.cells import cell_id
from ipytorchseed.notebook.config import IPyTorchSeed
from ipytorchseed.notebook.guard import Guard
from ipytorchseed.notebook.interrupts import Interrupts
from ipytorchseed.notebook.magic import Magic
from ipytorchseed.notebook.runs import Runs
from ipytorchseed.notebook.seeding import Seeding
from ipytorchseed.notebook.tracking import Tracking
from ipytorchseed.notebook.transform import deterministic_cells
from ipytorchseed.notebook.viewing import Viewer

if TYPE_CHECKING:
    from IPython.core.completer import CompletionContext
    from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell

    from ipytorchseed.determinism.alerts import Alert
    from ipytorchseed.determinism.scope import deterministic
    from ipytorchseed.notebook.checks import Checks
    from ipytorchseed.notebook.replay import Replays
    from ipytorchseed.notebook.scopes import Scopes
    from ipytorchseed.rng.generators import Found

Opener = Callable[["Extension"], Viewer]
"""Makes what shows runs as they happen; the package gives it, as it lies above this floor."""

_loaded: WeakKeyDictionary[Any, Extension] = WeakKeyDictionary()

MAGICS = (
    ("line", "seed", "ipytorchseed.notebook.seed_magic", "%seed 42"),
    ("line", "rng", "ipytorchseed.notebook.rng_magic", "%rng --text"),
    ("line", "why", "ipytorchseed.notebook.why_magic", "%why 12"),
    ("line", "replay", "ipytorchseed.notebook.replay_magic", "%replay 12"),
    ("line", "deterministic", "ipytorchseed.notebook.deterministic_magic", "%deterministic on"),
    ("cell", "deterministic", "ipytorchseed.notebook.deterministic_magic", "%%deterministic 42"),
)
"""Kind, name, the module whose ``command`` declares words and options, and an example."""


class Extension:
    """Everything that the extension keeps for one shell.

    Args:
        shell: The running shell.
        opener: Makes the viewer when it is first asked for; None where there is none.

    Attributes:
        interrupts: Keeps Ctrl-C from being lost while we look.
        guard: Keeps errors of our callbacks away from the user's cells.
        runs: The runs under way.
        seeding: What ``%seed`` put in force.
        choices: What the user configured.
        tracking: The recording of runs.
        scopes: The deterministic scopes in force; made on first use, as it needs torch's flags.
        checks: The checks and traces under way; made on first use.
        viewer: What shows runs as they happen; None until it is asked for.
        lock: Held while a cell begins, and by what must not happen while one runs.
        at_work: Whether a cell is running, in whichever thread.
    """

    def __init__(self, shell: InteractiveShell, opener: Opener | None = None) -> None:
        self.shell = shell
        self.runs = Runs()
        self.seeding = Seeding()
        self.choices = IPyTorchSeed(parent=shell)
        self.tracking = Tracking(shell, self.choices)
        self.interrupts = held = Interrupts(shell, self.tracking.stop_look)
        self.guard = guard = Guard(held.note)
        self.viewer: Viewer | None = None
        self.lock = threading.RLock()
        self.at_work = False
        self._opener = opener
        self._scopes: Scopes | None = None
        self._checks: Checks | None = None
        self._replays: Replays | None = None
        self._magics: list[tuple[str, str, Magic, Any]] = []
        self._events: dict[str, Callable[..., None]] = {
            "pre_execute": held.held(guard(self.runs.pre_execute)),
            "pre_run_cell": held.held(guard(self._pre_run_cell), held.before_cell),
            "post_execute": held.held(guard(self._post_execute)),
            "post_run_cell": held.held(guard(self._post_run_cell), held.after_cell),
        }

    @property
    def scopes(self) -> Scopes:
        """The deterministic scopes of this shell."""
        if self._scopes is None:
            from ipytorchseed.notebook.deterministic_magic import show_alerts
            from ipytorchseed.notebook.scopes import Scopes

            self._scopes = Scopes(
                self.shell, self.runs, show_alerts, self._hear, self.checks.follow
            )
        return self._scopes

    @property
    def checks(self) -> Checks:
        """The checks and traces of this shell; made on first use."""
        if self._checks is None:
            from ipytorchseed.notebook.checks import Checks

            self._checks = Checks(self)
        return self._checks

    @property
    def replays(self) -> Replays:
        """The replays of this shell; made on first use."""
        if self._replays is None:
            from ipytorchseed.notebook.replay import Replays

            self._replays = Replays(self)
        return self._replays

    @property
    def replaying(self) -> bool:
        """Whether ``%replay`` runs cells again just now."""
        return self._replays is not None and self._replays.busy

    @property
    def rerunning(self) -> bool:
        """Whether a check runs a cell's code again just now: nothing of ours then takes part."""
        return self._checks is not None and self._checks.rerunning

    def _hear(self, alerts: list[Alert]) -> None:
        """Keep torch's alerts for the record of the run under way."""
        if alerts:
            self.checks.note(alerts)

    def generators(self) -> list[Found]:
        """Find the generators that the user's namespace holds."""
        from ipytorchseed.rng.generators import find_generators

        names, hidden = self.shell.user_ns, self.shell.user_ns_hidden
        users = {name: value for name, value in list(names.items()) if type(name) is str}
        return find_generators({name: users[name] for name in users if name not in hidden})

    def states(self) -> dict[str, bytes]:
        """Return the full state of every source and of every generator of the namespace."""
        from ipytorchseed.rng.snapshot import snapshot

        found = {each.name: each.kind.read(each.object) for each in self.generators()}
        return {**snapshot().states, **found}

    def apply(self, seed: int, how: str) -> None:
        """Seed every source, and note it in the log.

        Raises:
            SeedError: ``seed`` is none; nothing was moved.
        """
        self.seeding.apply(seed)
        if not self.rerunning:
            self.tracking.note_seed(seed, how)

    def open_viewer(self) -> Viewer | None:
        """Return what shows runs as they happen; None where nothing could show it."""
        if self.viewer is None and self._opener is not None and hasattr(self.shell, "kernel"):
            self.viewer = self._opener(self)
        return self.viewer

    def run_scoped(
        self,
        scope: deterministic,
        after: Callable[[deterministic], None] | None,
        body: str,
    ) -> None:
        """Run code in a scope of its own, where a magic was handed its body as text."""
        self.runs.pre_execute()
        run = self.runs.current
        self.scopes.begin_cell(scope, after)
        try:
            self.shell.run_cell(body, store_history=False).raise_error()
        finally:
            self.runs.end(run)

    def attach(self) -> None:
        """Add events, transformer, magics and completions to the shell."""
        self.shell.configurables.append(self.choices)  # type: ignore[arg-type]
        self.runs.assume()  # the cell that loads us has begun already, if one does
        for event, callback in self._events.items():
            self.shell.events.register(event, callback)
        self.shell.input_transformers_cleanup.append(deterministic_cells)
        for kind, name, module, example in MAGICS:
            table = self.shell.magics_manager.magics[kind]
            magic = Magic(kind, name, module, example, self)
            self._magics.append((kind, name, magic, table.get(name)))
            table[name] = magic
        self.shell.Completer.custom_matchers.append(self._match)
        if hasattr(self.shell, "kernel"):
            self.tracking.get_ready()

    def detach(self) -> None:
        """Take it all away, and put back what is still in force."""
        self.runs.end_all()
        if self.viewer is not None:
            self.guard(self.viewer.close)()
        self.tracking.stop()
        self.shell.configurables.remove(self.choices)  # type: ignore[arg-type]
        if self._scopes is not None:
            self._scopes.switch_off()
        for event, callback in self._events.items():
            with suppress(ValueError):  # another tool may have cleared the list; so below
                self.shell.events.unregister(event, callback)
        with suppress(ValueError):
            self.shell.input_transformers_cleanup.remove(deterministic_cells)
        for kind, name, magic, before in reversed(self._magics):
            table = self.shell.magics_manager.magics[kind]
            if table.get(name) is magic:
                if before is None:
                    del table[name]
                else:
                    table[name] = before
        with suppress(ValueError):
            self.shell.Completer.custom_matchers.remove(self._match)

    def _pre_run_cell(self, info: ExecutionInfo) -> None:
        self.runs.pre_run_cell(info)
        if self.runs.nested or self.rerunning:
            return
        with self.lock:
            self.at_work = True
        ident = cell_id(self.shell, info)
        seed = self.seeding.for_cell(ident, str(info.raw_cell))

        if seed is None:
            self.tracking.begin(info, ident)
        else:
            self.tracking.begin(info, ident, partial(self.seeding.apply, seed))
            self.tracking.note_seed(seed, "each")

    def _post_execute(self) -> None:
        self.runs.post_execute()
        if not self.runs.busy:  # a callback of a widget or a silent run
            self.interrupts.forget()

    def _post_run_cell(self, result: ExecutionResult | None) -> None:
        self.guard(self.runs.post_run_cell)(result)
        if self.rerunning:
            return
        try:
            self._after_run(result)
        finally:
            if not self.runs.busy:
                self.at_work = False

    def _after_run(self, result: ExecutionResult | None) -> None:
        """Do what follows a run; each step, whatever became of those before it."""
        guard = self.guard
        if self._scopes is not None and self.runs.current is None:
            guard(self._scopes.after_cell)()
        run = None if self.runs.busy else guard(self.tracking.end)(result)
        if self._checks is not None:
            guard(self._checks.finish)(result)
            guard(self._checks.record)(run)
        if run is not None and (self.viewer is not None or self.choices.explain_on_change):
            run = self.tracking.session.last  # with its number
        if run is not None and self.choices.explain_on_change:
            from ipytorchseed.notebook.why_magic import explain_change

            guard(explain_change)(self.tracking.session, run)
        if self.viewer is not None and not self.runs.busy:
            self.at_work = False
            guard(self.viewer.ran)(run)

    @context_matcher()  # type: ignore[untyped-decorator]
    def _match(self, context: CompletionContext) -> dict[str, object]:
        line = context.text_until_cursor.lstrip()
        sign, typed, _ = line.partition(" ")
        magic = next((magic for _, _, magic, _ in self._magics if magic.sign == sign), None)
        words = magic.complete(line, context.token) if magic is not None and typed else []
        # A `complete_command` hook could not keep Python's own names out of the list.
        return {"completions": [SimpleCompletion(word) for word in words], "suppress": True}


def load(shell: InteractiveShell, opener: Opener | None = None) -> None:
    """Switch the extension on in a shell; a second time does nothing.

    Args:
        shell: The running shell.
        opener: Makes the viewer when it is first asked for.
    """
    if shell not in _loaded:
        extension = Extension(shell, opener)
        extension.attach()
        _loaded[shell] = extension


def unload(shell: InteractiveShell) -> None:
    """Switch it off, and leave the shell as it was."""
    extension = _loaded.pop(shell, None)
    if extension is not None:
        extension.detach()


def running() -> Extension:
    """Return the extension of the running shell.

    Raises:
        LookupFailure: There is no shell, or the extension is not loaded in it.
    """
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    extension = None if shell is None else _loaded.get(shell)
    if extension is None:
        msg = "ipytorchseed is not loaded here; in IPython or Jupyter: %load_ext ipytorchseed"
        raise LookupFailure(msg)
    return extension
