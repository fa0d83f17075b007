"""The paths of modules that are at work: ``model.layer2.conv1``."""

from __future__ import annotations

import warnings
from contextlib import suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ipytorchseed.trace.compiled import leave_uncompiled

if TYPE_CHECKING:
    from collections.abc import Mapping


class ModulePaths:
    """Follows which module calls which, in every thread, while it is attached.

    Args:
        names: The user's namespace, in which the outermost modules have their names.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._paths: dict[int, tuple[Any, str]] = {}  # the module too: its number is not reused
        self._stacks: dict[int, list[str]] = {}
        self._handles: list[Any] = []
        self._filter: Any = None

    def attach(self) -> None:
        """Begin to follow."""
        from torch.compiler import is_compiling
        from torch.nn.modules import module

        # Torch's compiler takes hooks into what it compiles; there, these are nothing at all.
        def enter(module: Any, _: object) -> None:  # noqa: ANN401 -- torch.nn.Module
            if not is_compiling():
                self._enter(module)

        def leave(module: object, *_: object) -> None:
            if not is_compiling():
                self._leave(module)

        leave_uncompiled(enter, leave)
        # It warns that there are hooks for all modules. These do nothing that could be run twice.
        warnings.filterwarnings("ignore", r"Using `torch\.compile\(module\)` when there are global")
        self._filter = warnings.filters[0]
        self._handles = [
            module.register_module_forward_pre_hook(enter),
            module.register_module_forward_hook(leave, always_call=True),
        ]

    def detach(self) -> None:
        """Stop; the modules are as they were."""
        while self._handles:
            self._handles.pop().remove()
        with suppress(ValueError):
            warnings.filters.remove(self._filter)  # type: ignore[attr-defined] # it is a list

    def stack(self) -> list[str]:
        """Return the paths of this thread's modules at work, innermost last; it stays current."""
        return self._stacks.setdefault(get_ident(), [])

    def _enter(self, module: Any) -> None:  # noqa: ANN401 -- as above
        stack = self._stacks.get(get_ident())
        if stack is not None:
            known = self._paths.get(id(module))
            stack.append(known[1] if known is not None else self._find(module, stack))

    def _leave(self, module: object) -> None:
        stack = self._stacks.get(get_ident())
        if stack and stack[-1] == self._paths.get(id(module), (None, ""))[1]:
            stack.pop()

    def _find(self, module: Any, stack: list[str]) -> str:  # noqa: ANN401
        """Name a module that was not met before, and all that it holds."""
        from torch.nn import Module

        kind = type(module).__name__
        if stack:
            root, path = module, f"{stack[-1]}.{kind}"
        else:
            named = (
                (name, value)
                for name, value in list(self._names.items())
                if isinstance(value, Module) and not name.startswith("_")
            )
            path, root = next(
                (
                    (name, value)
                    for name, value in named
                    if any(module is each for each in value.modules())
                ),
                (kind, module),
            )
        for inner, each in root.named_modules():
            self._paths.setdefault(id(each), (each, f"{path}.{inner}" if inner else path))
        return self._paths[id(module)][1]
