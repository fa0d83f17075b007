"""The exceptions that ipytorchseed raises, drawn as a tree.

::

    IPyTorchSeedError
    ├── SeedError (ValueError)     what was given as a seed is no integer from 0 to 2**32-1
    ├── SourceError (ValueError)   a source is unknown, registered twice or malformed
    ├── LookupFailure (LookupError) a run, name or path that is asked for is not there
    ├── StateError (ValueError)    a state does not fit the source it is given to, or cannot be read
    ├── ScopeError (RuntimeError)  a scope is begun or ended in the wrong order
    ├── RanksError (RuntimeError)  ranks cannot be compared, as where there is only one process
    │   └── RanksDiffer           ranks that should be alike are not, or distinct and are not
    ├── ReplayError (RuntimeError) a cell that was to run again did not run to its end
    ├── ResumeError (RuntimeError) a training cannot be run in two halves
    │   └── ResumeDiffers          its second half did not get everything back
    ├── LedgerError (RuntimeError) the ledger's file cannot be opened, read or written
    ├── ReceiptError (ValueError)  a receipt cannot be read, or is of another notebook
    ├── TraceError (RuntimeError)  a file of operations cannot be written, or is none
    └── UncheckableError (RuntimeError) a notebook cannot be read, or not be run to its end

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
    """Ranks cannot be compared; the message says what that takes."""


class RanksDiffer(RanksError):  # noqa: N818 -- it is what was found, and said so by its name
    """Ranks that should be alike are not, or should be distinct and are not."""


class ReplayError(IPyTorchSeedError, RuntimeError):
    """A cell that was to run again did not run to its end; what it had changed was undone."""


class ResumeError(IPyTorchSeedError, RuntimeError):
    """A training cannot be run in two halves, or not be followed."""


class ResumeDiffers(ResumeError):  # noqa: N818 -- it is what is said, not what went wrong
    """The second half of a training did not get everything back; the message is the report."""


class LedgerError(IPyTorchSeedError, RuntimeError):
    """The ledger's file cannot be opened, read or written."""


class ReceiptError(IPyTorchSeedError, ValueError):
    """A receipt cannot be read, or is of another notebook; the message is one line."""


class TraceError(IPyTorchSeedError, RuntimeError):
    """A file of operations cannot be written or read; the message is one line."""


class LookupFailure(IPyTorchSeedError, LookupError):  # noqa: N818 -- LookupError is taken
    """A run, name or path that was asked for is not there; the message names what is."""


class UncheckableError(IPyTorchSeedError, RuntimeError):
    """A notebook cannot be read, or not be run to its end; the message is one line."""


_LONGEST = 120
"""Letters of an error, in another's message."""


def in_brief(error: BaseException) -> str:
    """Return an error's class and the beginning of the first line that it says."""
    line = str(error).strip().partition("\n")[0]
    said = f"{type(error).__name__}: {line}" if line else type(error).__name__
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


_QUOTED = 60
"""Characters of a mistyped word that are shown."""


def quoted(text: str) -> str:
    """Quote what was typed; of a long text, the beginning."""
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}...")


def did_you_mean(word: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """Return ``; did you mean X?`` for the nearest of the known words, whatever the case.

    Empty where none is near.

    Args:
        word: What was typed.
        known: What could have been; as a mapping, with what to suggest for each.
    """
    from difflib import get_close_matches

    words = known if isinstance(known, Mapping) else {each: each for each in known}
    meant = {each.lower(): suggested for each, suggested in words.items()}
    near = get_close_matches(word.lower(), meant, 1)
    return f"; did you mean {meant[near[0]]}?" if near else ""
