"""The answer to ``%why``: what changed between two runs, and what caused it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger.records import Finding, Run


class Blame(Struct, frozen=True):
    """A run that caused a difference.

    Attributes:
        run: The run; None if the difference arose between two runs.
        how: What the run did: ``drew 640 numbers``, ``reseeded to 42``.
    """

    run: Run | None
    how: str


class Change(Struct, frozen=True):
    """A difference between two results.

    Attributes:
        what: ``variable``, ``result``, ``stdout``, ``display`` or ``error``. If two runs of a check
            are compared, also ``source``.
        name: The variable or source; empty for other kinds of results.
        detail: The old and the new value, if a few words suffice.
        before: The earlier run's numbers, if they are recorded.
        after: The later run's numbers, if they are recorded.
    """

    what: str
    name: str = ""
    detail: str = ""
    before: tuple[float, ...] | None = None
    after: tuple[float, ...] | None = None


class Cause(Struct, frozen=True):
    """A recorded difference that can account for the changed result.

    Attributes:
        kind: ``code``, ``rng``, ``input``, ``flag``, ``environment``, ``entropy``, ``file`` or
            ``operation``.
        name: The user's name for what differs: ``model``, ``torch.cpu``, the path of a file.
        message: One sentence about the difference.
        proof: Lines of the cell: the edited lines for ``code``, the operation's line for
            ``operation``.
        fix: A command that removes the difference, if any.
        keep: An edit that keeps the difference from happening again, if any.
        blame: The known runs that caused the difference, oldest first.
        prevents: Whether the fix only makes later runs repeat, and cannot restore the earlier
            result.
        finding: The result of experiments.
    """

    kind: str
    name: str
    message: str
    proof: str = ""
    fix: str = ""
    keep: str = ""
    blame: tuple[Blame, ...] = ()
    prevents: bool = False
    finding: Finding = Finding()

    def is_carried(self, cell: str) -> bool:
        """Return whether only a cell itself changed this input, in its earlier runs."""
        cells = {each.run.cell for each in self.blame if each.run is not None}
        return self.kind == "input" and cells == {cell}

    @property
    def goes_back(self) -> bool:
        """Whether ``%replay`` restores what this cause changed."""
        return self.kind in {"code", "flag", "input", "rng"} and not self.prevents


class Cleared(Struct, frozen=True):
    """A difference that probably or certainly did not cause the change.

    Attributes:
        kind: As in ``Cause``.
        name: As in ``Cause``.
        message: Why it is not a cause.
        otherwise: What to report if no other cause explains the change; None if this difference is
            certainly no cause.
        is_tested: Whether experiments test ``otherwise``.
        alone: Whether ``otherwise`` becomes a cause if no earlier finder found a cause.
    """

    kind: str
    name: str
    message: str
    otherwise: Cause | None = None
    is_tested: bool = True
    alone: bool = False


def unless_others(
    cause: Cause, reason: str = "other causes account for the change", *, is_tested: bool = False
) -> Cleared:
    """Return a suspect that is a cause only if no earlier finder found another cause.

    Args:
        cause: The cause.
        reason: Why it is cleared if there is another cause.
        is_tested: Whether experiments test it although it is cleared.
    """
    return Cleared(cause.kind, cause.name, reason, cause, is_tested, alone=True)


class Root(Struct, frozen=True):
    """The origin of one or more causes. No recorded run explains it.

    Attributes:
        kind: As in ``Cause``.
        name: As in ``Cause``; for an edit, the cell.
        message: One sentence about the origin.
        path: The variables through which the root affects the cell in question, in order; empty if
            it affects the cell directly.
        blame: The runs that caused it.
        via: Kind and name of each cause that has this root.
        fix: What keeps the root from causing a change again, if known.
    """

    kind: str
    name: str
    message: str
    path: tuple[str, ...] = ()
    blame: tuple[Blame, ...] = ()
    via: tuple[tuple[str, str], ...] = ()
    fix: str = ""


def suspect(it: Cause | Cleared) -> str:
    """Return the name of a cause or suspect for messages, without the ids of cells."""
    return "the cell's text" if it.kind == "code" else it.name


class Remedy(Struct, frozen=True):
    """The way back to an earlier result.

    Attributes:
        commands: What to type, such as ``%replay 5``; empty if there is no way back.
        complete: Whether the commands are known to restore the earlier result.
        obstacle: A clause: why the commands may not restore the result, or why there is no way.
        note: A clause: which run of an earlier kernel the commands name. If there are no commands,
            why the result can never come back.
    """

    commands: tuple[str, ...] = ()
    complete: bool = False
    obstacle: str = ""
    note: str = ""


# Separates a message from what to do next.
NEXT_STEP = (
    ". Next step: %%deterministic --check at the top of the cell, which shows whether it gives the"
    " same result twice"
)


class Explanation(Struct, frozen=True):
    """The answer to ``%why``.

    Attributes:
        run: The run that the user asked about.
        against: The run that ``run`` is compared with, if any.
        verdict: ``first-run``, ``same``, ``explained`` or ``unexplained``.
        message: The answer in a sentence.
        changed: The differences between the results.
        causes: Recorded differences that can account for the changed result.
        roots: The origins of the causes.
        cleared: Recorded differences that are not causes.
        remedy: The way back to the earlier result.
        unknown: Inputs and results that could not be compared in full: names or phrases.
        again: An earlier run of the cell, before ``against``, with the same result as ``run``.
        tested: Whether experiments have tested all suspects.
        makers: Pairs of runs of cells that created inputs. The two runs of a pair, the later run
            first, differ in several ways, and no experiment has shown which of these matter.
        hidden: For an unexplained change, a clause that names what could not be inspected.
        repeats: For an unexplained change, the finding of running the cell again.
        keep: Further ways to keep the result, such as the seed argument of a function.
    """

    run: Run
    against: Run | None
    verdict: str
    message: str
    changed: tuple[Change, ...] = ()
    causes: tuple[Cause, ...] = ()
    roots: tuple[Root, ...] = ()
    cleared: tuple[Cleared, ...] = ()
    remedy: Remedy = Remedy()
    unknown: tuple[str, ...] = ()
    again: Run | None = None
    tested: bool = False
    repeats: Finding = Finding()
    makers: tuple[tuple[Run, Run], ...] = ()
    hidden: str = ""
    keep: tuple[str, ...] = ()

    def with_suspects(self, count: int) -> Explanation:
        """Return a copy with at most ``count`` suspects, the most likely ones."""
        cleared, left = list[Cleared](), count - len(self.causes)
        for each in self.cleared:
            is_suspect = each.is_tested and each.otherwise is not None
            cleared.append(replace(each, is_tested=is_suspect and left > 0))
            left -= is_suspect
        return replace(self, causes=self.causes[:count], cleared=tuple(cleared))

    @property
    def suspects(self) -> tuple[Cause, ...]:
        """All that experiments may test: causes, and suspects that may be causes."""
        doubtful = (each.otherwise for each in self.cleared if each.is_tested)
        return (*self.causes, *(each for each in doubtful if each is not None))
