"""The exceptions that ipytorchseed raises, drawn as a tree.

::

    IPyTorchSeedError
    ├── SeedError (ValueError)     a seed is not an integer from 0 to 2**32-1
    ├── SourceError (ValueError)   a source is unknown, registered twice or malformed
    ├── LookupFailure (LookupError) a run, name or path does not exist
    ├── StateError (ValueError)    a state does not fit the source it is given to, or cannot be read
    ├── ScopeError (RuntimeError)  a scope is begun or ended in the wrong order
    ├── RanksError (RuntimeError)  ranks cannot be compared, for example in a single process
    │   └── RanksDiffer           ranks that should be alike differ, or the other way round
    ├── ReplayError (RuntimeError) a cell cannot be run again, or did not run to its end
    ├── ResumeError (RuntimeError) a training run cannot be split into two halves
    │   └── ResumeDiffers          the second half did not continue as the whole run did
    ├── LedgerError (RuntimeError) the ledger's file cannot be opened, read or written
    ├── ReceiptError (ValueError)  a receipt cannot be read, or is for another notebook
    ├── TraceError (RuntimeError)  a trace file cannot be written, or is not one
    └── UncheckableError (RuntimeError) a notebook cannot be read or run to its end

Each message says what happened, to which thing, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class IPyTorchSeedError(Exception):
    """Base of everything that this package raises on purpose."""


class SeedError(IPyTorchSeedError, ValueError):
    """The value given as a seed is not an integer from 0 to 2**32-1."""


class SourceError(IPyTorchSeedError, ValueError):
    """A source of randomness is unknown, registered twice or malformed."""


class StateError(IPyTorchSeedError, ValueError):
    """A state does not fit the source that it is given to, or a source cannot be read."""


class ScopeError(IPyTorchSeedError, RuntimeError):
    """A scope was begun or ended in the wrong order."""


class RanksError(IPyTorchSeedError, RuntimeError):
    """Ranks cannot be compared; the message says why."""


class RanksDiffer(RanksError):  # noqa: N818 -- a finding, not a failure
    """Ranks that should be alike differ, or ranks that should differ are alike."""


class ReplayError(IPyTorchSeedError, RuntimeError):
    """A cell cannot be run again, or did not run to its end and was undone."""


class ResumeError(IPyTorchSeedError, RuntimeError):
    """A training run cannot be split into two halves, or has no steps to compare."""


class ResumeDiffers(ResumeError):  # noqa: N818 -- a finding, not a failure
    """A resumed training differs from an uninterrupted one; the message says why."""


class LedgerError(IPyTorchSeedError, RuntimeError):
    """The ledger's file cannot be opened, read or written."""


class ReceiptError(IPyTorchSeedError, ValueError):
    """A receipt cannot be read, or is for another notebook; the message is one line."""


class TraceError(IPyTorchSeedError, RuntimeError):
    """A file of operations cannot be written or read; the message is one line."""


class LookupFailure(IPyTorchSeedError, LookupError):  # noqa: N818 -- LookupError is taken
    """A run, name or path does not exist; the message lists what does."""


class UncheckableError(IPyTorchSeedError, RuntimeError):
    """A notebook cannot be read or run to its end; the message is one line."""


# The maximum number of characters of an error that another message quotes.
_LONGEST = 120


def in_brief(error: BaseException) -> str:
    """Return the class of an error and the start of its first line."""
    line = str(error).strip().partition("\n")[0]
    said = f"{type(error).__name__}: {line}" if line else type(error).__name__
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


# The maximum number of characters of a mistyped word that a message shows.
_QUOTED = 60


def quoted(text: str) -> str:
    """Quote what was typed, shortened if it is long."""
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}...")


def did_you_mean(word: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """Return ``; did you mean X?`` for the nearest known word, ignoring case.

    The text is empty if no word is near.

    Args:
        word: The typed word.
        known: The known words; a mapping gives the suggestion for each.
    """
    from difflib import get_close_matches

    words = known if isinstance(known, Mapping) else {each: each for each in known}
    meant = {each.lower(): suggested for each, suggested in words.items()}
    near = get_close_matches(word.lower(), meant, 1)
    return f"; did you mean {meant[near[0]]}?" if near else ""
