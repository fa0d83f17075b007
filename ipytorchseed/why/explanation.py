"""The explanation of two runs: what changed, what caused it, and what did not."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger.records import Finding, Run


class Blame(Struct, frozen=True):
    """A run that brought a difference about.

    Attributes:
        run: The run; None where it happened between two runs.
        how: What it did: ``drew 640 numbers``, ``reseeded to 42``.
    """

    run: Run | None
    how: str


class Change(Struct, frozen=True):
    """Something in which two results differ.

    Attributes:
        what: ``variable``, ``result``, ``stdout``, ``display`` or ``error``; between runs of a
            check ``source``, too.
        name: Of the variable or source; empty for the others.
        detail: From what to what, where it can be said in a few words.
        before: The earlier run's numbers, where they are kept.
        after: The later run's numbers, where they are kept.
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
        proof: Digests of what the message tells, before and after; of code, its edited lines.
        fix: A command to copy that mends it; empty where there is none.
        blame: The runs that brought it about, oldest first, as far as they are known.
        prevents: The fix does not bring the earlier result back: it makes the cell repeat from
            then on.
        finding: What experiments say of it.
    """

    kind: str
    name: str
    message: str
    proof: str = ""
    fix: str = ""
    blame: tuple[Blame, ...] = ()
    prevents: bool = False
    finding: Finding = Finding()

    @property
    def goes_back(self) -> bool:
        """Whether the way back to the earlier result takes care of it."""
        return self.kind in {"code", "flag", "input", "rng"} and not self.prevents


class Cleared(Struct, frozen=True):
    """A difference, or a suspect, that was not the cause.

    Attributes:
        kind: As for a cause.
        name: As for a cause.
        message: Why it was not.
        otherwise: The cause that it may be if there is no other; None where it is certainly none.
        is_tested: Whether experiments test it.
    """

    kind: str
    name: str
    message: str
    otherwise: Cause | None = None
    is_tested: bool = True


class Root(Struct, frozen=True):
    """What no recorded run explains, and from which causes come.

    Attributes:
        kind: As for a cause.
        name: As for a cause; of an edit, the cell.
        message: One sentence.
        path: The variables on the way from there to the cell that was asked about, in order; none
            if that cell met it itself.
        blame: The runs that brought it about.
        via: Kind and name of each cause that comes from it.
        fix: What keeps it from happening again; empty if nothing is known.
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
    """A value that was only sampled, or is opaque: it is not known whether it changed.

    Attributes:
        name: The variable, or in words what was shown.
        makers: The runs between the two that may have changed it; none for what the cell made.
    """

    name: str
    makers: tuple[Run, ...] = ()


class Remedy(Struct, frozen=True):
    """The way back to an earlier result.

    Attributes:
        commands: What to type: ``%replay 5``; nothing where there is no way.
        complete: Whether that is known to bring the earlier result.
        obstacle: Why it may not, or why there is no way, in a clause; empty otherwise.
        note: Which run of an earlier kernel the command means, in a clause; empty otherwise.
    """

    commands: tuple[str, ...] = ()
    complete: bool = False
    obstacle: str = ""
    note: str = ""


NEXT_STEP = ". Next step: "
"""Begins the end of a message that says what to do."""


class Explanation(Struct, frozen=True):
    """The answer to ``%why``.

    Attributes:
        run: The run asked about.
        against: The run it is compared with; None where there is none.
        verdict: ``first-run``, ``same``, ``explained`` or ``unexplained``.
        message: The answer in a sentence.
        changed: In what the results differ.
        causes: What can account for it.
        roots: Where the causes come from.
        cleared: What was looked at and is not the cause.
        remedy: The way back to the earlier result.
        unknown: What may be a cause or a change, and was not looked at whole.
        again: An earlier run of the cell, before ``against``, that had the same result as ``run``.
        tested: Whether experiments have tested all suspects.
        makers: Pairs of runs on the way to the roots, later and earlier, of which experiments have
            not shown yet what of several things mattered.
        repeats: If nothing explains the difference, what running the cell again showed.
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

    def with_suspects(self, count: int) -> Explanation:
        """Return the same with only so many suspects, the most likely ones."""
        cleared, left = list[Cleared](), count - len(self.causes)
        for each in self.cleared:
            is_suspect = each.is_tested and each.otherwise is not None
            cleared.append(replace(each, is_tested=is_suspect and left > 0))
            left -= is_suspect
        return replace(self, causes=self.causes[:count], cleared=tuple(cleared))

    @property
    def suspects(self) -> tuple[Cause, ...]:
        """All that experiments may test: the causes, and what was cleared but may be one."""
        doubtful = (each.otherwise for each in self.cleared if each.is_tested)
        return (*self.causes, *(each for each in doubtful if each is not None))
