"""Observes the notebook's code while a cell runs: what it reads, sets and calls.

Python reports each code object once, when it first starts. For the notebook's code only, Python
also reports each instruction once per cell, so loops run at full speed. All code that runs with
the notebook's variables as globals is observed, even if a library, ``exec``, ``%time`` or a thread
runs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from inspect import CO_OPTIMIZED
from types import CodeType, FunctionType
from typing import Any
from weakref import ref

from ipytorchseed.introspection.values import qualified_name
from ipytorchseed.observe.draws import Draws, name_of_call
from ipytorchseed.observe.uses import Use, find_loops, find_uses
from ipytorchseed.reads.entropy import TAILS
from ipytorchseed.reads.resolution import public_name

# Tool ids without a conventional owner; the first free one is used.
_TOOLS = (4, 3)

_monitoring: Any = getattr(sys, "monitoring", None)
_DISABLE = getattr(_monitoring, "DISABLE", None)

OnFirstRead = Callable[[str], object]


class Seen:
    """The observations of one run.

    Attributes:
        uses: The uses of each variable, in the order in which they first ran.
        codes: The code objects that ran, by ``id``.
        places: The offsets of the instructions that ran, by the ``id`` of the code object.
        called: Functions in ``reads.entropy`` that the run called, by public name.
        draws: The calls and loops that drew random numbers.
        forked: Whether this process was forked.
        failed: Whether some code could not be observed because of an internal error.
    """

    def __init__(self) -> None:
        self.uses: dict[str, dict[Use, None]] = {}
        self.codes: dict[int, CodeType] = {}
        self.places: dict[int, set[int]] = {}
        self.called: set[str] = set()
        self.draws = Draws()
        self.forked = False
        self.failed = False


class Watch:
    """An observer of code that runs with one notebook's variables as globals."""

    def __init__(self) -> None:
        self._tool: int | None = None
        self._namespace: Mapping[str, Any] | None = None
        self._seen: Seen | None = None
        self._on_read: OnFirstRead | None = None
        self._known: dict[int, ref[CodeType]] = {}
        self._uses: dict[int, dict[int, tuple[Use, ...]]] = {}
        self._loops: dict[int, dict[int, str]] = {}
        self._spent: dict[int, CodeType] = {}

    def start(self, namespace: Mapping[str, Any], on_read: OnFirstRead) -> bool:
        """Start observing a run.

        Args:
            namespace: The notebook's variables.
            on_read: Called with the name of a variable before the run first reads it.

        Returns:
            False if no tool id was free, so that the run is not observed.
        """
        if not self._take_tool():
            return False
        if self._namespace is not namespace:
            self._namespace = namespace
            _monitoring.restart_events()
        for code in self._spent.values():
            self._arm(code)
        self._spent.clear()
        self._on_read = on_read
        self._seen = Seen()
        return True

    def stop(self) -> Seen | None:
        """Stop observing a run, and return its record."""
        seen, self._seen, self._on_read = self._seen, None, None
        return seen

    def close(self) -> None:
        """Stop observing, and release the tool id."""
        if self._tool is None:
            return
        tool, events = self._tool, _monitoring.events
        _monitoring.set_events(tool, events.NO_EVENTS)
        for known in self._known.values():
            if (code := known()) is not None:
                _monitoring.set_local_events(tool, code, events.NO_EVENTS)
        for event in (events.PY_START, events.INSTRUCTION, events.CALL):
            _monitoring.register_callback(tool, event, None)
        _monitoring.free_tool_id(tool)
        self.__init__()  # type: ignore[misc]

    def forked(self) -> None:
        """Record that this process was forked, because the child is not observed."""
        if self._seen is not None:
            self._seen.forked = True

    def _take_tool(self) -> bool:
        if self._tool is not None:
            return True
        free = (each for each in _TOOLS if _monitoring.get_tool(each) is None)
        tool = next(free, None)
        if tool is None:
            return False
        events = _monitoring.events
        _monitoring.use_tool_id(tool, "ipytorchseed")
        _monitoring.register_callback(tool, events.PY_START, self._begins)
        _monitoring.register_callback(tool, events.INSTRUCTION, self._runs)
        _monitoring.register_callback(tool, events.CALL, self._calls)
        _monitoring.set_events(tool, events.PY_START)
        self._tool = tool
        return True

    def _arm(self, code: CodeType) -> None:
        """Make Python report each instruction of code once more."""
        tool, events = self._tool, _monitoring.events
        if tool is not None:
            _monitoring.set_local_events(tool, code, events.NO_EVENTS)
            _monitoring.set_local_events(tool, code, events.INSTRUCTION | events.CALL)

    def _begins(self, code: CodeType, _offset: int) -> object:
        """Record that code starts for the first time, if it is the notebook's."""
        try:
            frame = sys._getframe(1)  # noqa: SLF001 -- there is no other way
            scope = frame.f_globals
            if scope is not self._namespace:
                # Experiments run functions of the notebook with copies of its variables. Such code
                # must be reported again later, unlike a script that `%run` runs.
                copies = scope.get("__name__") == "__main__" and _is_of_a_cell(code.co_filename)
                return None if copies else _DISABLE
            return self._meet(code, sets=sets_globally(code) or frame.f_locals is scope)
        except Exception:  # noqa: BLE001 -- an error would reach the user's code
            self._fail()
            return None

    def _meet(self, code: CodeType, *, sets: bool) -> object:
        key = id(code)
        known = self._known.get(key)
        if known is None or known() is not code:
            self._known[key] = ref(code, lambda _: self._forget(key))
            self._uses[key] = find_uses(code, sets=sets)
            self._loops[key] = find_loops(code)
            self._arm(code)
        elif key in self._spent and self._seen is not None and key not in self._seen.codes:
            self._arm(code)
            del self._spent[key]
        if self._seen is not None:
            self._seen.codes[key] = code
        # Code of a cell may run again. A function need not be reported: its instructions are.
        return None if code.co_name == "<module>" else _DISABLE

    def _forget(self, key: int) -> None:
        known = self._known.get(key)
        if known is not None and known() is None:
            del self._known[key]
            self._uses.pop(key, None)
            self._loops.pop(key, None)

    def _runs(self, code: CodeType, offset: int) -> object:
        """Record the first execution of an instruction in this run."""
        try:
            key = id(code)
            seen = self._seen
            places = None if seen is None else seen.places.get(key)
            if places is None:
                self._spent.setdefault(key, code)
                if seen is None:
                    return _DISABLE
                seen.codes.setdefault(key, code)
                places = seen.places[key] = set()
            places.add(offset)
            if seen is not None:
                seen.draws.end(key, offset)
                seen.draws.begin(key, offset, self._loops[key].get(offset, ""))
                if offset in self._uses[key]:
                    self._note(seen, *self._uses[key][offset])
        except Exception:  # noqa: BLE001 -- as above
            self._fail()
        return _DISABLE

    def _calls(self, code: CodeType, offset: int, called: object, first: object) -> object:
        """Record nondeterministic functions that are called, and states before calls."""
        try:
            name = called.__name__ if type(called) is FunctionType else qualified_name(called)
            if self._seen is not None:
                if name.rpartition(".")[2] in TAILS:
                    self._seen.called.add(public_name(called))
                self._seen.draws.begin(id(code), offset, name_of_call(called, first))
        except Exception:  # noqa: BLE001 -- as above
            self._fail()
        return _DISABLE

    def _fail(self) -> None:
        if self._seen is not None:
            self._seen.failed = True

    def _note(self, seen: Seen, use: Use) -> None:
        uses = seen.uses.get(use.name)
        if uses is not None:
            uses.setdefault(use)
            return
        seen.uses[use.name] = {use: None}
        if use.is_read and self._on_read is not None:
            self._on_read(use.name)


def _is_of_a_cell(file: str) -> bool:
    """Return whether a file name is that of a cell; ipykernel uses one per cell."""
    return file[:1] == "<" or "ipykernel_" in file


def sets_globally(code: CodeType) -> bool:
    """Return whether code belongs to a function, not to a cell or the body of a class."""
    return bool(code.co_flags & CO_OPTIMIZED)


# The only ``Watch`` of this process; None before Python 3.12.
watch = Watch() if _monitoring is not None else None

if watch is not None and hasattr(os, "register_at_fork"):
    os.register_at_fork(before=watch.forked)
