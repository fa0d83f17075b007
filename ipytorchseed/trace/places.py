"""Where in the code an operation came from: line, module, forward or backward."""

from __future__ import annotations

import linecache
import warnings
from array import array
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from threading import get_ident
from traceback import walk_stack
from types import FrameType
from typing import Any

from ipytorchseed.introspection.ownership import is_local_file
from ipytorchseed.trace.compiled import leave_uncompiled
from ipytorchseed.trace.format import Place, shorten

Pick = Callable[[list[tuple[FrameType, int]]], "tuple[FrameType, int] | None"]


# torch's function that starts a backward pass.
ENGINE = "_engine_run_backward"

# Frames searched for the cell's.
_DEEPEST = 500

# Nodes of the autograd graph with known places; older ones are forgotten.
_MOST_NODES = 2**22


# A file and a line of it: what the search on the stack returns.
Spot = tuple[str, int]

# The result of a search without success.
NOWHERE: Spot = ("", 0)


class Places:
    """Numbers the places of a run from 0, in the order of their first occurrence.

    Attributes:
        all: The places, by number.
    """

    def __init__(self) -> None:
        self.all: list[Place] = []
        self._known: dict[Place, int] = {}

    def of(self, place: Place) -> int:
        """Return the number of a place."""
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = len(self.all)
            self.all.append(place)
        return found


class Lines:
    """Finds the line of the cell on the stack.

    Args:
        file: The name under which the cell was compiled.
        names: The user's namespace.
        pick: Chooses among the user's frames, innermost first, for cells in which a magic removes
            text. None if the innermost frame of ``file`` is right.
    """

    def __init__(self, file: str, names: Mapping[str, Any], pick: Pick | None = None) -> None:
        self._file = file
        self._names = names
        self._pick = pick

    def find(self, frame: FrameType | None, end: str = "") -> Spot:
        """Return the line that leads to a frame, or ``NOWHERE``.

        Args:
            frame: The innermost frame.
            end: The name of the function that ends the search, if it is on the stack.
        """
        if self._pick is not None and not end:
            return self._picked(frame, self._pick)
        while frame is not None and frame.f_code.co_name != end:
            if self._is_users(frame):
                return frame.f_code.co_filename, frame.f_lineno or 0
            frame = frame.f_back
        return NOWHERE

    def _picked(self, frame: FrameType | None, pick: Pick) -> Spot:
        stack: list[tuple[FrameType, int]] = []
        while frame is not None and len(stack) < _DEEPEST:
            if frame.f_globals is self._names:
                stack.append((frame, frame.f_lineno or 0))
            frame = frame.f_back
        chosen = pick(stack)
        return NOWHERE if chosen is None else (self._file, chosen[1])

    def place(self, spot: Spot, module: str = "", *, backward: bool = False) -> Place:
        """Return the place of an operation, by the result of ``find``."""
        file, line = spot
        code = shorten(linecache.getline(file, line).strip())
        return Place(self._shown(file), line, code, module, backward)

    def _shown(self, file: str) -> str:  # noqa: ARG002 -- a cell has none
        return ""

    def between(self, frame: FrameType | None) -> list[str]:
        """Return the files from a frame to the user's, innermost first."""
        stack = () if frame is None else walk_stack(frame)  # for which None means the caller
        frames = takewhile(lambda each: not self._is_users(each), (each for each, _ in stack))
        return [each.f_code.co_filename for each in frames]

    def _is_users(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename == self._file


class ScriptLines(Lines):
    """Finds the user's line in a script: that of the user's innermost file.

    Args:
        names: The namespace of the code that is traced, which is the user's whatever its file.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__("", names)
        self._own: dict[str, bool] = {}

    def _is_users(self, frame: FrameType) -> bool:
        file = frame.f_code.co_filename
        own = self._own.get(file)
        if own is None:
            # made by its compiler, for example
            made = str(frame.f_globals.get("__name__", "")).startswith("torch.")
            mine = frame.f_globals is self._names
            own = self._own[file] = mine or (not made and is_local_file(file))
        return own

    def _shown(self, file: str) -> str:
        """Return a file's path from the working folder, or its name; empty for no file.

        Others may read the trace, so no other folder is named.
        """
        path = Path(file)
        if file.startswith("<") or not path.is_file():
            return ""
        with suppress(ValueError, OSError):
            return path.resolve().relative_to(Path.cwd()).as_posix()
        return path.name


class Sequence:
    """The place that created each node of the autograd graph, by sequence number.

    torch counts nodes in each thread. A node is counted before its operation reaches a dispatch
    mode, so the newest number belongs to the running operation
    (``torch/csrc/autograd/function.h``). Each node takes four bytes, for at most four million.
    """

    def __init__(self, begin: int) -> None:
        self._begin = begin
        self._places = array("i")

    def note(self, until: int, place: int) -> None:
        """Record the place that created all new nodes below a number."""
        new = until - self._begin - len(self._places)
        if new > 0:
            self._places.extend([place] * new)
        if len(self._places) > _MOST_NODES:
            old = len(self._places) // 2
            del self._places[:old]
            self._begin += old

    @property
    def end(self) -> int:
        """The first number that is not recorded yet."""
        return self._begin + len(self._places)

    def find(self, number: int) -> int | None:
        """Return the place that created a node, or None if it is older."""
        index = number - self._begin
        return self._places[index] if 0 <= index < len(self._places) else None


class ModulePaths:
    """Tracks which module calls which, in every thread, while attached.

    Args:
        names: The user's namespace, in which the outermost modules have their names.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._paths: dict[int, tuple[Any, str]] = {}  # the module too, so that its id is not reused
        self._stacks: dict[int, list[str]] = {}
        self._handles: list[Any] = []
        self._filter: Any = None

    def attach(self) -> None:
        """Start tracking."""
        from torch.compiler import is_compiling
        from torch.nn.modules import module

        # torch's compiler includes hooks in what it compiles; there they do nothing.
        def enter(module: Any, _: object) -> None:  # torch.nn.Module
            if not is_compiling():
                self._enter(module)

        def leave(module: object, *_: object) -> None:
            if not is_compiling():
                self._leave(module)

        leave_uncompiled(enter, leave)
        # torch warns that there are global hooks. These have no side effects.
        warnings.filterwarnings("ignore", r"Using `torch\.compile\(module\)` when there are global")
        self._filter = warnings.filters[0]
        self._handles = [
            module.register_module_forward_pre_hook(enter),
            module.register_module_forward_hook(leave, always_call=True),
        ]

    def detach(self) -> None:
        """Stop tracking and restore the modules."""
        while self._handles:
            self._handles.pop().remove()
        with suppress(ValueError):
            warnings.filters.remove(self._filter)  # type: ignore[attr-defined] # it is a list

    def stack(self) -> list[str]:
        """Return this thread's stack of module paths, innermost last; it stays current."""
        return self._stacks.setdefault(get_ident(), [])

    def _enter(self, module: Any) -> None:
        stack = self._stacks.get(get_ident())
        if stack is not None:
            known = self._paths.get(id(module))
            stack.append(known[1] if known is not None else self._find(module, stack))

    def _leave(self, module: object) -> None:
        stack = self._stacks.get(get_ident())
        if stack and stack[-1] == self._paths.get(id(module), (None, ""))[1]:
            stack.pop()

    def _find(self, module: Any, stack: list[str]) -> str:
        """Return the path of a new module, and register all modules in it."""
        from torch.nn import Module

        root, path = module, ".".join([*stack[-1:], type(module).__name__])
        for name, value in [] if stack else list(self._names.items()):
            named = isinstance(value, Module) and not name.startswith("_")
            if named and any(module is each for each in value.modules()):
                root, path = value, name
                break
        for inner, each in root.named_modules():
            self._paths.setdefault(id(each), (each, f"{path}.{inner}" if inner else path))
        return self._paths[id(module)][1]
