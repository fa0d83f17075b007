"""The explanation of two runs: what changed, what caused it, and what did not."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger.records import Finding, Run


class Blame(Struct, frozen=True):
    """A run that caused a difference.

    Attributes:
        run: The run; None if it happened between two runs.
        how: What it did: ``drew 640 numbers``, ``reseeded to 42``.
    """

    run: Run | None
    how: str


class Change(Struct, frozen=True):
    """A difference between two results.

    Attributes:
        what: ``variable``, ``result``, ``stdout``, ``display`` or ``error``; between runs of a
            check also ``source``.
        name: The variable or source; empty for the others.
        detail: The old and the new value, if that can be said in a few words.
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
        name: What differs, as the user would name it.
        message: One sentence.
        proof: Lines of the cell: for code the edited ones, for an operation its own.
        fix: A command that fixes it, if any.
        keep: An edit that keeps it from happening again, if any.
        blame: The runs that caused it, oldest first, as far as they are known.
        prevents: Whether the fix makes the cell repeat from then on and does not restore the
            earlier result.
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

    @property
    def goes_back(self) -> bool:
        """Whether restoring the earlier result also restores this."""
        return self.kind in {"code", "flag", "input", "rng"} and not self.prevents


class Cleared(Struct, frozen=True):
    """A difference, or a suspect, that was not the cause.

    Attributes:
        kind: As for a cause.
        name: As for a cause.
        message: Why it was not the cause.
        otherwise: The cause that it may be if there is no other; None if it is certainly none.
        is_tested: Whether experiments test it.
        alone: Whether ``otherwise`` is a cause if no earlier finder found one.
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
    """Return a cause that counts only if no earlier finder found one.

    Args:
        cause: The cause.
        reason: Why it is cleared else.
        is_tested: Whether experiments test it then.
    """
    return Cleared(cause.kind, cause.name, reason, cause, is_tested, alone=True)


class Root(Struct, frozen=True):
    """The origin of causes, which no recorded run explains.

    Attributes:
        kind: As for a cause.
        name: As for a cause; for an edit, the cell.
        message: One sentence.
        path: The variables from there to the cell in question, in order; empty if it affects that
            cell directly.
        blame: The runs that caused it.
        via: Kind and name of each cause that comes from it.
        fix: What keeps it from happening again, if known.
    """

    kind: str
    name: str
    message: str
    path: tuple[str, ...] = ()
    blame: tuple[Blame, ...] = ()
    via: tuple[tuple[str, str], ...] = ()
    fix: str = ""


def suspect(it: Cause | Cleared) -> str:
    """Return the name of a cause for people, who do not know the ids of cells."""
    return "the cell's text" if it.kind == "code" else it.name


class Unknown(Struct, frozen=True):
    """A value that may have changed: it was only sampled, or is opaque.

    Attributes:
        name: The variable, or what was shown, in words.
        makers: The runs between the two that may have changed it; empty for what the cell created.
    """

    name: str
    makers: tuple[Run, ...] = ()


class Remedy(Struct, frozen=True):
    """The way back to an earlier result.

    Attributes:
        commands: What to type: ``%replay 5``; empty if there is no way.
        complete: Whether that is known to restore the earlier result.
        obstacle: Why it may not, or why there is no way, as a clause.
        note: Which run of an earlier kernel the command means, as a clause; without commands, why
            the result can never come back.
    """

    commands: tuple[str, ...] = ()
    complete: bool = False
    obstacle: str = ""
    note: str = ""


# Separates a message from what to do next.
NEXT_STEP = ". Next step: "


class Explanation(Struct, frozen=True):
    """The answer to ``%why``.

    Attributes:
        run: The run in question.
        against: The run it is compared with, if any.
        verdict: ``first-run``, ``same``, ``explained`` or ``unexplained``.
        message: The answer in a sentence.
        changed: The differences of the results.
        causes: What can account for them.
        roots: The origins of the causes.
        cleared: What was inspected and is not the cause.
        remedy: The way back to the earlier result.
        unknown: Possible causes or changes that could not be compared in full.
        again: An earlier run of the cell, before ``against``, with the same result as ``run``.
        tested: Whether experiments have tested all suspects.
        makers: Pairs of runs on the way to the roots, later and earlier, that differ in several
            things and were not tested.
        hidden: If nothing explains the difference, a clause with what could not be inspected.
        repeats: If nothing explains the difference, the result of running the cell again.
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
    unknown: tuple[Unknown, ...] = ()
    again: Run | None = None
    tested: bool = False
    repeats: Finding = Finding()
    makers: tuple[tuple[Run, Run], ...] = ()
    hidden: str = ""
    keep: tuple[str, ...] = ()

    def with_suspects(self, count: int) -> Explanation:
        """Return a copy with only this many suspects, the most likely ones."""
        cleared, left = list[Cleared](), count - len(self.causes)
        for each in self.cleared:
            is_suspect = each.is_tested and each.otherwise is not None
            cleared.append(replace(each, is_tested=is_suspect and left > 0))
            left -= is_suspect
        return replace(self, causes=self.causes[:count], cleared=tuple(cleared))

    @property
    def suspects(self) -> tuple[Cause, ...]:
        """All that experiments may test: causes, and suspects cleared without certainty."""
        doubtful = (each.otherwise for each in self.cleared if each.is_tested)
        return (*self.causes, *(each for each in doubtful if each is not None))
