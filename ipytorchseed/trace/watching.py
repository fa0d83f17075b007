"""Watches torch's operations: the TorchDispatchMode of a thread."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from ipytorchseed.fingerprint.native import Unseen, native, reads_natively
from ipytorchseed.rng.table import check_folder
from ipytorchseed.trace.compiled import COMPILED, GRAPH, leave_uncompiled
from ipytorchseed.trace.digests import plain_digest
from ipytorchseed.trace.format import Place
from ipytorchseed.trace.operations import Overload, describe
from ipytorchseed.trace.places import ENGINE, NOWHERE, Sequence, Spot

if TYPE_CHECKING:
    from ipytorchseed.trace.file import Track  # which imports numpy

# Memory is filled with bytes below this one. They form no negative integers, and no NaN except in
# float16 and float8.
_BYTES = 0x7F

# Replaces the recorder in a thread that is still running when the recorder is closed.
_ENDED = SimpleNamespace(active=False, fail=lambda _: None)


def _fill(result: Any, operation: Overload, byte: int) -> bool:  # a tensor
    """Fill a tensor's new memory with a byte; return whether it was filled.

    Enlarged memory is not filled, since its first part has old values.
    """
    at = native()
    enlarged = operation.written - operation.unread
    if enlarged or not reads_natively(type(result)) or at.layout(result) is not at.strided:
        return False
    storage = at.untyped_storage(result)
    if not storage.nbytes() or at.device(result).type == "meta":
        return False
    with Unseen():
        storage.fill_(byte % _BYTES)
    return True


@cache
def watch_class() -> type:  # noqa: C901 -- one class, whose one method is timed by the microsecond
    """Return the class of our dispatch modes. This imports torch.

    Raises:
        SourceError: torch cannot be imported, because the working folder was removed.
    """
    check_folder("torch")
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    current_node: Callable[[], Any] = torch._C._current_autograd_node  # noqa: SLF001 -- no public way
    newest: Callable[[], int] = torch._C._autograd._get_sequence_nr  # noqa: SLF001 -- as above
    here: Callable[[], FrameType] = sys._getframe  # noqa: SLF001 -- documented
    tensor_type = torch.Tensor

    class Watch(TorchDispatchMode):
        """An observer of the operations of one thread and its backward passes."""

        supports_higher_order_operators = True

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            """Leave compiled regions compiled, so that operations inside stay invisible."""
            return True

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """Return False, to avoid torch's slow wrapper; ``leave_uncompiled`` is faster."""
            return False

        def __init__(self, recorder: Any, track: Track | None) -> None:
            # recorder: a Recorder, which imports this file
            super().__init__()  # type: ignore[no-untyped-call]
            self.recorder = recorder
            self.count = 0
            self._track = track
            self._lines: Any = recorder.lines
            self._here: dict[tuple[Spot, str, bool], Place] = {}
            self._in_graph = False

        def let_go(self) -> None:
            """Drop the references to the recorder and to the user's names."""
            self.recorder, self._lines, self._track = _ENDED, None, None

        def begin(self) -> None:
            """Start in the current thread."""
            if self.recorder.active:
                self._stack = self.recorder.modules.stack()
                self._sequence = Sequence(newest())

        def __torch_dispatch__(  # noqa: C901 -- as above
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            __tracebackhide__ = True  # user errors show only user frames
            recorder, given = self.recorder, kwargs or {}
            if not recorder.active:
                return func(*args, **given)
            try:
                operation = describe(func)
                caller = here().f_back  # None in torch's own threads, such as GPU backward passes
                place = recorder.place = self._place(caller)
                track = None if operation.silent else self._track
                read: list[int] = []
                words: list[Any] = []
                if track is not None:
                    _look(operation.inputs(args, given), track.digest, read, words)
                if operation.draws and recorder.draws is not None:
                    state = recorder.draws.before(args, given)
                    if track is not None:
                        read.append(track.state(state))
            except Exception as error:  # noqa: BLE001 -- our errors must not end the user's code
                recorder.fail(error)
                return func(*args, **given)
            result = func(*args, **given)
            if not recorder.active:  # another thread may have stopped it
                return result
            try:
                if (
                    operation.unwritten
                    and recorder.fill is not None
                    and _fill(result, operation, recorder.fill + self.count)
                ):
                    track = self._track
                if operation.draws and recorder.draws is not None:
                    recorder.draws.after(operation, place, recorder.lines, caller)
                if track is not None:
                    made: list[int] = []
                    other: list[Any] = []
                    _look(operation.changes(args, given), track.written, made, other)
                    if operation.returns:
                        _look((result,), track.result, made, other)
                    if other:
                        made.append(plain_digest(other))
                    track.add(operation.name, place, words, read, made)
                self.count += 1
            except Exception as error:  # noqa: BLE001 -- as above
                recorder.fail(error)
            return result

        def _place(self, caller: FrameType | None) -> Place:
            """Return the place of the running operation."""
            node = current_node()
            place = self._forward(caller) if node is None else self._backward(node, caller)
            if not self._in_graph:
                return place
            return place._replace(module=".".join(filter(None, [place.module, COMPILED])))

        def _forward(self, caller: FrameType | None) -> Place:
            """Return the place of an operation outside of backward passes."""
            stack = self._stack
            place = self._at(self._lines.find(caller), stack[-1] if stack else "")
            self._sequence.note(newest(), place)
            return place

        def _backward(self, node: Any, caller: FrameType | None) -> Place:
            """Return the place of an operation in a backward pass.

            This is the place of its forward operation, unless user code called it in the backward
            pass.
            """
            spot = self._lines.find(caller, ENGINE)
            if spot is NOWHERE:
                place = self._sequence.find(node._sequence_nr())  # noqa: SLF001 -- no public way
                if place is not None:
                    return place._replace(backward=True)
                spot = self._lines.find(caller)
            return self._at(spot, backward=True)

        def _at(self, spot: Spot, module: str = "", *, backward: bool = False) -> Place:
            """Return a place in the user's code."""
            key = spot, module, backward
            place = self._here.get(key)
            if place is None:
                place = self._here[key] = self._lines.place(spot, module, backward=backward)
            return place

        def run_graph(self, graph: Any, inputs: Any, run: Callable[[Any, Any], Any]) -> Any:
            """Record a run of compiled code as one operation.

            Inputs that the code mutates are recorded as results.
            """
            track = self._track
            assert track is not None  # noqa: S101 -- graphs are intercepted only with a trace
            read: list[int] = []
            changed: list[Any] = []
            place = Place()
            outer, self._in_graph, track.whole = self._in_graph, True, True
            try:
                place = self._place(here().f_back)
                _look(inputs, track.digest, read, [])
                changed = [inputs[each] for each in graph.mutated_input_idxs]
            except Exception as error:  # noqa: BLE001 -- as above
                self.recorder.fail(error)
            try:
                result = run(graph, inputs)
            finally:
                self._in_graph = track.whole = outer
            if self.recorder.active:
                try:
                    made: list[int] = []
                    _look((result, changed), track.result, made, [])
                    track.add(GRAPH, place, [], read, made)
                except Exception as error:  # noqa: BLE001 -- as above
                    self.recorder.fail(error)
            return result

    def _look(
        values: Any, digest: Callable[[Any], int], found: list[int], words: list[Any]
    ) -> None:
        """Add the digests of tensors to one list, and other values to another."""
        for value in values:
            if isinstance(value, tensor_type):
                found.append(digest(value))
            elif type(value) is list or type(value) is tuple:
                words.append(len(value))
                _look(value, digest, found, words)
            else:
                words.append(value)

    leave_uncompiled(Watch.__torch_dispatch__, Watch.run_graph)
    return Watch
