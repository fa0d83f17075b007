"""Switches off one part of ``%why`` at a time, and checks that a test fails.

    python -m tests.why.mutants [WORD...]

Functions that find or explain causes, and fields of recorded runs, are switched off in this process;
then recorded scenarios are judged, or the tests in ``UNIT`` run. Steps of experiments are left out in
kernels, where the tests of ``STEPS`` run. Words select mutants by name. Prints what kills each
mutant. Exits with 1 if a mutant survives that is not in ``SURVIVORS``.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
from collections import Counter
from contextlib import contextmanager
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest

from ipytorchseed.ledger.records import Run
from ipytorchseed.why import ranking, remedy, roots
from ipytorchseed.why.explanation import Remedy
from ipytorchseed.why.finders import FINDERS, LAST_RESORT
from tests.kernel import Kernel
from tests.scenarios.playing import missing_packages
from tests.scenarios.recording import Recording, load, problems_of
from tests.scenarios.scenario import Scenario, read_all
from tests.why.steps import STEPS, left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    Cases = dict[str, tuple[Scenario, Recording]]

# The tests for mutants that no scenario kills.
UNIT = {
    "function _is_remade": "tests/why/test_roots.py",
    "function with_fixes": "tests/why/test_plan.py",
    "function find_remedy": "tests/why/test_plan.py",
    "function _unseen": "tests/why/test_plan.py",
    "function _obstacle": "tests/why/test_plan.py",
    "field observed": "tests/why/test_unread.py",
    "field between": "tests/render/test_rng.py",
    "field outside": "tests/why/test_plan.py",
    "field imported": "tests/why/test_clearing.py",
    "field seeds": "tests/why/test_plan.py",
    "field notes": "tests/render/test_html.py",
}

# Mutants that may survive, and why.
SURVIVORS: dict[str, str] = {
    "leave shell": "each run restores the shell too; this is for an interrupt in between",
}


class Mutant(NamedTuple):
    """A part that is switched off.

    Attributes:
        name: The part.
        switch_off: Switches it off while the context lasts.
        affects: The scenarios whose answers may change.
    """

    name: str
    switch_off: Callable[[], AbstractContextManager[None]]
    affects: list[str]


def cases() -> Cases:
    """Return the recorded scenarios by name, except those whose packages are missing."""
    found = ((each, load(each)) for each in read_all() if not missing_packages(each))
    return {each.name: (each, kept) for each, kept in found if kept is not None}


def failing(recorded: Cases, names: Iterable[str]) -> Iterator[str]:
    """Yield the scenarios among ``names`` that get a wrong answer or an error."""
    for name in names:
        try:
            wrong = bool(problems_of(*recorded[name]))
        except Exception:  # noqa: BLE001 -- a mutant may break anything
            wrong = True
        if wrong:
            yield name


# --------------------------------------------------------------------------------------------------
# Functions


def _call(*args: Any, _by: Callable[..., Any], **kwargs: Any) -> Any:
    return _by(*args, **kwargs)


@contextmanager
def replaced(function: Any, by: Callable[..., Any]) -> Iterator[None]:
    """Replace a function under all names that it was imported under.

    Args:
        function: A function of a module.
        by: Called with the original first, then with its arguments.
    """
    code, keywords = function.__code__, function.__kwdefaults__
    original = FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
    original.__kwdefaults__ = keywords
    function.__code__, function.__kwdefaults__ = _call.__code__, {"_by": partial(by, original)}
    try:
        yield
    finally:
        function.__code__, function.__kwdefaults__ = code, keywords


def _instead(by: Callable[..., Any], _: Any, *args: Any, **kwargs: Any) -> Any:
    return by(*args, **kwargs)


def _find_nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


def _change_none(*args: Any) -> list[Any]:
    return [*next(each for each in args if isinstance(each, list | tuple))]


def _offer_nothing(*_: Any) -> Remedy:
    return Remedy()


def functions() -> dict[Any, Callable[..., Any]]:
    """Return functions that find, clear and explain causes, with their replacements."""
    return {
        **dict.fromkeys((*FINDERS, *LAST_RESORT), _find_nothing),
        ranking.ranked: lambda _, causes: [*causes],
        remedy.with_fixes: _change_none,
        roots.with_roots: lambda _, causes: ([*causes], ()),
        roots._is_remade: lambda *_: False,
        remedy.find_remedy: _offer_nothing,
        remedy._unseen: lambda *_: [],
        remedy._obstacle: lambda *_: "",
    }


def find_affected(recorded: Cases, found: dict[Any, Callable[..., Any]]) -> dict[Any, list[str]]:
    """Return the scenarios in which a function differs from its replacement."""
    affected: dict[Any, list[str]] = {function: [] for function in found}
    if not found:
        return affected
    current = ""

    def watch(function: Any, original: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        result = tuple(result) if inspect.isgenerator(result) else result
        if result != found[function](*args, **kwargs) and current not in affected[function]:
            affected[function].append(current)
        return result

    with contextlib.ExitStack() as watched:
        for function in found:
            watched.enter_context(replaced(function, partial(watch, function)))
        for current in recorded:
            wrong = [*failing(recorded, [current])]
            assert not wrong, f"{current} fails without a mutant"
    return affected


def function_mutants(recorded: Cases, is_chosen: Callable[[str], bool]) -> Iterator[Mutant]:
    """Yield a mutant for each function."""
    found = {each: by for each, by in functions().items() if is_chosen(_name(each))}
    for function, affects in find_affected(recorded, found).items():
        by = found[function]
        switch_off = partial(replaced, function, partial(_instead, by))
        yield Mutant(_name(function), switch_off, affects)


def _name(function: Any) -> str:
    return f"function {function.__name__}"


# --------------------------------------------------------------------------------------------------
# Fields


@contextmanager
def blank(name: str, default: Any) -> Iterator[None]:
    """Replace a field of all runs by its default."""
    member = vars(Run)[name]
    setattr(Run, name, property(lambda _: default))
    try:
        yield
    finally:
        setattr(Run, name, member)


def field_mutants(recorded: Cases, is_chosen: Callable[[str], bool]) -> Iterator[Mutant]:
    """Yield a mutant for each field of a run that has a default, except its number."""
    for field in msgspec.structs.fields(Run):
        name = f"field {field.name}"
        if field.required or field.name == "id" or not is_chosen(name):
            continue
        made = field.default is msgspec.NODEFAULT
        default = field.default_factory() if made else field.default
        affects = [
            scenario
            for scenario, (_, kept) in recorded.items()
            if any(getattr(run, field.name) != default for run in kept.runs)
        ]
        yield Mutant(name, partial(blank, field.name, default), affects)


# --------------------------------------------------------------------------------------------------
# Running


def killer(mutant: Mutant, recorded: Cases, kills: Counter[str]) -> str | None:
    """Return a test that fails under a mutant; None if it survives.

    Args:
        mutant: What is switched off.
        recorded: The scenarios.
        kills: How many mutants each scenario has killed: those with many are tried first.
    """
    with mutant.switch_off():
        order = sorted(mutant.affects, key=lambda name: -kills[name])
        name = next(failing(recorded, order), None)
        if name is not None:
            kills[name] += 1
        elif mutant.name in UNIT:
            name = run_tests([UNIT[mutant.name]])
    return name


class EditedKernels:
    """A plugin of pytest that leaves a step out in each kernel that its tests start.

    Args:
        name: The step.
    """

    def __init__(self, name: str) -> None:
        self._edit = f"__import__('tests.why.steps', fromlist=['x']).leave_out({name!r})"

    @pytest.fixture(autouse=True)
    def edited_kernels(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Edit each kernel when it first answers."""
        connect = Kernel._connect

        def connect_and_edit(kernel: Kernel) -> None:
            connect(kernel)
            reply = kernel.run(self._edit, silent=True, store_history=False)
            assert reply.status == "ok", reply.error

        monkeypatch.setattr(Kernel, "_connect", connect_and_edit)


def killer_of_step(name: str) -> str | None:
    """Return the test that fails without a step of an experiment, or None."""
    in_kernels = [each for each in STEPS[name].tests if each.startswith(WITH_KERNELS)]
    here = [each for each in STEPS[name].tests if each not in in_kernels]
    return (here and killer_in_fork(name, here)) or (
        run_tests(in_kernels, EditedKernels(name)) if in_kernels else None
    )


# Tests that run without an edit in this process.
WITH_KERNELS = ("tests/notebook/", "tests/scenarios/")


def killer_in_fork(name: str, tests: Iterable[str]) -> str | None:
    """Return the test that fails in a fork of this process without a step, or None."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        with left_out(name):
            found = run_tests(tests)
        os.write(write, (found or "").encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as told:
        found = told.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, name
    return found or None


def run_tests(tests: Iterable[str], *plugins: object) -> str | None:
    """Return the first of some tests that fails, or None."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = pytest.main(["-qx", "--tb=no", "-p", "no:cacheprovider", *tests], plugins=[*plugins])
    assert code in (0, 1), printed.getvalue()
    return next((each for each in printed.getvalue().splitlines() if each[:6] == "FAILED"), None)


def main(words: list[str]) -> int:
    """Switch off one part at a time, and print the survivors."""

    def is_chosen(name: str) -> bool:
        return not words or any(word in name for word in words)

    survivors = []
    kills = Counter[str]()

    def say(name: str, killed_by: str | None) -> None:
        survivors.extend([] if killed_by else [name])
        sys.stdout.write(f"{name}: {killed_by or 'SURVIVES'}\n")
        sys.stdout.flush()

    recorded = cases()
    for mutants in (function_mutants, field_mutants):
        for mutant in mutants(recorded, is_chosen):
            say(mutant.name, killer(mutant, recorded, kills))
    from tests.conftest import import_libraries

    import_libraries()  # torch etc., once for all forks
    steps = [*filter(is_chosen, STEPS)]
    for name in sorted(steps, key=lambda each: STEPS[each].tests[0].startswith(WITH_KERNELS)):
        say(name, killer_of_step(name))
    unexplained = [name for name in survivors if name not in SURVIVORS]
    sys.stdout.write(f"{len(unexplained)} survive: {', '.join(unexplained)}\n")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
