"""Finds the place in the code that called an operation: line and module."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from itertools import islice, takewhile
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

# The maximum number of frames that are searched for a frame of the cell.
_DEEPEST = 500

# Places are stored for at most this many nodes of the autograd graph. The older half is dropped.
_MOST_NODES = 2**21


# A file and a line number: the result of searching the stack.
Spot = tuple[str, int]

# The result if no line of the user's code is found.
NOWHERE: Spot = ("", 0)


class Lines:
    """A finder of the line of the cell on the stack.

    Args:
        file: The name under which the cell was compiled.
        names: The user's namespace.
        pick: Returns the right frame among frames of the user, innermost first. Needed for cells
            from which a magic removes text. If None, the innermost frame of ``file`` is used.
    """

    def __init__(self, file: str, names: Mapping[str, Any], pick: Pick | None = None) -> None:
        self._file = file
        self._names = names
        self._pick = pick

    def find(self, frame: FrameType | None, end: str = "") -> Spot:
        """Return the line that leads to a frame, or ``NOWHERE``.

        Args:
            frame: The innermost frame.
            end: The name of a function; its frame, and frames that called it, are not searched.
        """
        if self._pick is not None and not end:
            return self._picked(frame, self._pick)
        while frame is not None and frame.f_code.co_name != end:
            if self._is_users(frame):
                return frame.f_code.co_filename, frame.f_lineno or 0
            frame = frame.f_back
        return NOWHERE

    def _picked(self, frame: FrameType | None, pick: Pick) -> Spot:
        frames = () if frame is None else walk_stack(frame)  # `walk_stack(None)` is our own stack
        users = (each for each in frames if each[0].f_globals is self._names)
        chosen = pick([*islice(users, _DEEPEST)])
        return NOWHERE if chosen is None else (self._file, chosen[1])

    def place(self, spot: Spot, module: str = "", *, backward: bool = False) -> Place:
        """Return the place of an operation.

        Args:
            spot: The result of ``find``.
            module: The path of the innermost module, or "".
            backward: Whether the operation belongs to a backward pass.
        """
        file, line = spot
        code = shorten(linecache.getline(file, line).strip())
        return Place(self._shown(file), line, code, module, backward)

    def _shown(self, file: str) -> str:  # noqa: ARG002 -- a cell has none
        return ""

    def between(self, frame: FrameType | None) -> list[str]:
        """Return the files of the frames that the user's innermost frame called.

        Args:
            frame: The innermost frame.
        """
        stack = () if frame is None else walk_stack(frame)
        frames = takewhile(lambda each: not self._is_users(each), (each for each, _ in stack))
        return [each.f_code.co_filename for each in frames]

    def _is_users(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename == self._file


class ScriptLines(Lines):
    """A finder of the line of the user's code in a script.

    Args:
        names: The namespace of the traced code. Code with this namespace is the user's, even if its
            file belongs to a package.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__("", names)
        self._own: dict[str, bool] = {}

    def _is_users(self, frame: FrameType) -> bool:
        file = frame.f_code.co_filename
        own = self._own.get(file)
        if own is None:
            # torch's compiler, for example, generates such code
            made = str(frame.f_globals.get("__name__", "")).startswith("torch.")
            mine = frame.f_globals is self._names
            own = self._own[file] = mine or (not made and is_local_file(file))
        return own

    def _shown(self, file: str) -> str:
        """Return a file's path relative to the working folder, else its name.

        Other people may read the trace, so it must not contain the names of other folders.
        """
        path = Path(file)
        if file.startswith("<") or not path.is_file():
            return ""
        with suppress(ValueError, OSError):
            return path.resolve().relative_to(Path.cwd()).as_posix()
        return path.name


class Sequence:
    """The places that created the nodes of the autograd graph, by sequence number.

    torch numbers the nodes of each thread. An operation's node gets its number before a dispatch
    mode sees the operation, so the newest number belongs to the running operation
    (``torch/csrc/autograd/function.h``).

    Args:
        begin: The number of the next node.
    """

    def __init__(self, begin: int) -> None:
        self._begin = begin
        self._places: list[Place] = []

    def note(self, until: int, place: Place) -> None:
        """Record the place that created all new nodes.

        Args:
            until: The number after the last new node.
            place: The place.
        """
        new = until - self._begin - len(self._places)
        if new > 0:
            self._places.extend([place] * new)
        if len(self._places) > _MOST_NODES:
            old = len(self._places) // 2
            del self._places[:old]
            self._begin += old

    def find(self, number: int) -> Place | None:
        """Return the place that created a node; None if not recorded."""
        index = number - self._begin
        return self._places[index] if 0 <= index < len(self._places) else None


class ModulePaths:
    """The stack of running modules in every thread, while attached.

    Args:
        names: The user's namespace, for the names of outermost modules.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        # The path of each module by its id. The module is kept alive, so that no id is reused.
        self._paths: dict[int, tuple[Any, str]] = {}
        self._stacks: dict[int, list[str]] = {}

    def attach(self, end: ExitStack) -> None:
        """Start tracking.

        Args:
            end: Removes the hooks and the warning filter when it is closed.
        """
        from torch.compiler import is_compiling
        from torch.nn.modules import module

        # torch's compiler compiles hooks too. In compiled code, these do nothing.
        def enter(module: Any, _: object) -> None:  # torch.nn.Module
            stack = None if is_compiling() else self._stacks.get(get_ident())
            if stack is not None:
                known = self._paths.get(id(module))
                stack.append(known[1] if known is not None else self._find(module, stack))

        def leave(module: object, *_: object) -> None:
            stack = None if is_compiling() else self._stacks.get(get_ident())
            if stack and stack[-1] == self._paths.get(id(module), (None, ""))[1]:
                stack.pop()

        leave_uncompiled(enter, leave)
        # torch warns that there are global hooks. These have no side effects.
        warnings.filterwarnings("ignore", r"Using `torch\.compile\(module\)` when there are global")
        filters: Any = warnings.filters
        end.enter_context(suppress(ValueError))
        end.callback(filters.remove, filters[0])
        end.callback(module.register_module_forward_pre_hook(enter).remove)
        end.callback(module.register_module_forward_hook(leave, always_call=True).remove)

    def stack(self) -> list[str]:
        """Return this thread's list of module paths, innermost last. It is updated."""
        return self._stacks.setdefault(get_ident(), [])

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
