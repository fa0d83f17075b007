"""Digests a cell's outputs while the cell runs, in bounded memory and time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh3_64, xxh3_64_hexdigest

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import Outputs
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.entropy import ADDRESS, reads_clock
from ipytorchseed.session import noise
from ipytorchseed.why.changes import TIMES
from ipytorchseed.why.words import many

# Noise is removed only from this many characters at the start of a text. The rest is digested
# unchanged.
MOST_TEXT = 1 << 17

# The number of characters of a cleaned text that the sample represents, which is compared if the
# digests differ.
_SURE = MOST_TEXT // 2

_MOST_NUMBERS = 8_192
_MOST_DISPLAYS = 1_000
# Finds a number. Digits with a leading zero, or too many for a float, are probably an identifier.
NUMBER = lazy_pattern(
    r"(?<![\w.])[-+]?(?!0\d|\d{16})(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w.])"
)

_WIDGETS = "application/vnd.jupyter.widget-"


def text_value(text: str, *, timed: bool = False, addressed: bool = False) -> Fingerprint:
    """Return the fingerprint of a text: its digest, its size, and the numbers in it.

    Args:
        text: The whole text, of any length.
        timed: Whether the cell reads a clock; see ``without_noise``.
        addressed: Whether the cell shows addresses; see ``OutputWatch``.
    """
    clean = whole = _clean(text, timed=timed, addressed=addressed)
    found = islice(NUMBER.finditer(clean), _MOST_NUMBERS + 1)
    numbers = tuple(float(match.group()) for match in found)
    lines = clean.count("\n") + (not clean.endswith("\n"))
    if timed or noise.is_timing(text):
        whole = _clean(text, timed=False, addressed=addressed, timings=True)
    parts = {} if whole == clean else {TIMES: _digest(whole)}
    series = numbers if 0 < len(numbers) <= _MOST_NUMBERS else None
    told = _digest(clean), "text", many(lines, "line")
    return Fingerprint(*told, parts=parts, series=series, sample=_beginning(clean))


def _clean(text: str, *, timed: bool, addressed: bool, timings: bool = False) -> str:
    clean = noise.without_noise(text, timed=timed, timings=timings)
    return noise.without_addresses(clean) if addressed else clean


def _beginning(clean: str) -> str:
    """Return the sample of a text: the digest of its beginning; empty if it is short."""
    return _digest(clean[:_SURE]) if len(clean) >= _SURE else ""


def bundle_value(bundle: Mapping[str, Any]) -> Fingerprint:
    """Return the fingerprint of a display, without widget models and noise.

    Args:
        bundle: The data by MIME type.
    """
    if not isinstance(bundle, dict):
        bundle = {}  # no front end shows it
    kinds = sorted(
        kind for kind in dict.keys(bundle) if type(kind) is str and not kind.startswith(_WIDGETS)
    )
    whole, cleaned = xxh3_64(), xxh3_64()
    for kind in kinds:
        data = dict.__getitem__(bundle, kind)
        whole.update(_encode(f"\n{kind}\n"))
        if isinstance(data, str):
            text = str.__str__(data)  # runs no code of the user's subclass
            remove = noise.cleaner(kind)
            size = MOST_TEXT if remove else 0
            clean = remove(text[:size]) if remove else ""
            whole.update(_encode(clean + text[size:]))
            if 0 < size < len(text):
                cleaned.update(_encode(clean[:_SURE]))
        elif type(data) is bytes:
            whole.update(data)
        else:
            whole.update(_encode(_as_json(data)))
    sample = cleaned.hexdigest().replace(_NOTHING, "")
    told = whole.hexdigest(), "display", ", ".join(kinds)
    return Fingerprint(*told, exact=not sample, sample=sample)


def _as_json(data: object) -> str:
    try:
        return json.dumps(data, sort_keys=True, default=_plain)
    except Exception:  # noqa: BLE001 -- no front end could show it either
        return ""


def _plain(data: object) -> str:
    """Return a string for an object that JSON cannot represent, without user code."""
    return xxh3_64(data).hexdigest() if type(data) is bytes else type(data).__name__


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(text: str) -> str:
    return xxh3_64_hexdigest(_encode(text))


def _as_drawn_over(text: str) -> str:
    """Return a text as a terminal shows it; its last line may still be overwritten."""
    lines, end, last = text.rpartition("\n")
    shown = noise.as_overwritten(lines) + end + noise.as_overwritten(last)
    return shown + "\r" * last.endswith("\r")


_NOTHING = _digest("")


def outputs_of(effects: Effects, asks: Iterable[str]) -> OutputWatch:
    """Return empty outputs for a cell that is about to run.

    Args:
        effects: The effects of the cell.
        asks: The nondeterministic calls of the cell.
    """
    return OutputWatch(timed=reads_clock(asks), addressed=ADDRESS in effects.calls)


def _without_place(value: object) -> object:
    """Return a value, or None if it is an integer that may be a memory address."""
    return None if type(value) is int and not noise.without_addresses(str(value)) else value


class OutputWatch(Struct):
    """The outputs of a run so far.

    Attributes:
        timed: Whether the cell reads a clock; see ``without_noise``.
        addressed: Whether the cell shows addresses. If so, integers that may be addresses are
            ignored.
        shown: The fingerprint of the displayed result, if there is one.
        in_part: Whether some printed text may be missing.
        displays: The fingerprints of displays; beyond 1,000, the last one is of all the rest.
    """

    timed: bool = False
    addressed: bool = False
    shown: Fingerprint | None = None
    in_part: bool = False
    displays: list[Fingerprint] = []
    _text: list[str] = []  # the printed text, or its beginning if it is too long to keep
    _room: int = MOST_TEXT  # how many characters still fit into it
    _rest: xxh3_64 | None = None  # a digest of the text after that
    _size: int = 0

    def passed_by(self) -> None:
        """Record that a program prints directly, so its text may arrive late or never."""
        self.in_part = True

    def piped(self, text: str) -> None:
        """Record text from the process's standard output, maybe from another cell."""
        if self.in_part:
            self.printed(text)
        self.in_part = True

    def printed(self, text: str) -> None:
        """Record printed text: its beginning, and a digest of the rest."""
        self._size += len(text)
        begin = self._keep(text) if self._rest is None else 0
        if self._rest is not None:
            self._rest.update(_encode(text[begin:]))

    def _keep(self, text: str) -> int:
        """Store the beginning of a text that fits, and return its length.

        If the rest does not fit, start its digest.
        """
        if len(text) > self._room and len(text) <= _SURE:
            before = _as_drawn_over("".join(self._text))
            if len(before) + len(text) <= _SURE:
                self._text, self._room = [before], MOST_TEXT - len(before)
        size = min(len(text), self._room)
        self._text.append(text[:size])
        self._room -= size
        if size < len(text):
            self._rest = xxh3_64()
        return size

    def displayed(self, bundle: Mapping[str, Any]) -> None:
        """Record the fingerprint of a display, without keeping the data."""
        value = bundle_value(bundle)
        if len(self.displays) < _MOST_DISPLAYS:
            self.displays.append(value)
        else:
            both = _digest(self.displays[-1].digest + value.digest)
            self.displays[-1] = Fingerprint(both, "display", "many more")

    def resulted(self, bundle: Mapping[str, Any]) -> None:
        """Record the fingerprint of a displayed result."""
        if self.addressed:
            for kind, data in bundle.items():
                if type(data) is str:
                    bundle = {**bundle, kind: noise.without_addresses(data)}
        self.shown = bundle_value(bundle)

    def content(self, result: object) -> object:
        """Return a result without integers that are addresses, if the cell shows any."""
        if self.addressed and type(result) in (tuple, list):
            return [*map(_without_place, result)]  # type: ignore[call-overload] # one of them
        return _without_place(result) if self.addressed else result

    def record(
        self, result: Fingerprint | None = None, error: str | None = None, *, printed: bool = True
    ) -> Outputs:
        """Return the record of the outputs.

        Args:
            result: The fingerprint of the last expression's value, if it has one.
            error: The error that ended the run, as one line.
            printed: Whether to include the printed text.
        """
        stdout = self.stdout() if printed else None
        return Outputs(result, self.shown, stdout, tuple(self.displays), error)

    def stdout(self) -> Fingerprint | None:
        """Return the fingerprint of the printed text; None if it is empty or only noise."""
        if not self._size and not self.in_part:
            return None
        varies = {"timed": self.timed, "addressed": self.addressed}
        text = "".join(self._text)
        if self._rest is not None:
            clean, size = _clean(text, **varies), f"{self._size:,} characters"
            digest = _digest(clean + self._rest.hexdigest())
            return Fingerprint(digest, "text", size, exact=False, sample=_beginning(clean))
        if self.in_part:  # lines may be missing or in another order
            value = text_value("\n".join(sorted(text.split("\n"))), **varies)
            summary = value.summary if text else ""
            return replace(value, summary=summary, exact=False, sample=value.digest)
        value = text_value(text, **varies)
        return None if value.digest == _NOTHING else value
