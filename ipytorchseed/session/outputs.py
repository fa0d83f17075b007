"""What a cell showed, without what changes in every run: addresses, times, counters."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.fingerprint.value import Fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_TEXT = 1 << 20
"""Characters of a run's output that are kept while it runs; the rest is only counted."""

_MOST_NUMBERS = 8_192
_MOST_DISPLAYS = 1_000
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_CHANGES_EACH_RUN = (
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "0x"),
    (re.compile(r"\bat 0x\b"), "at"),
    (re.compile(r"(?<=[<( ])id[= ]\d{6,}"), "id"),
    # the file that ipykernel names in a warning: its process, and the cell's text
    (re.compile(r"(?<=ipykernel_)\d+(?=[/\\]\d+\.py)"), ""),
    # tqdm: 57%|####| 57/100 [00:05<00:04, 10.6it/s, loss=0.3]
    (re.compile(r"\[\d+:\d\d(?::\d\d)?(?:<[^,\]]*)?,\s*[^,\]]*(?:/s|s/\w+)"), "["),
    # %time, %timeit
    (re.compile(r"(?:CPU times:|Wall time:|Compiler\s*:).*"), ""),
    # scikit-learn and joblib with verbose, Keras's bars, the Trainer of transformers
    (re.compile(r"(?:(?<=total time=)|(?<=\| elapsed:)|(?<=s remaining:)) *[\d.]+ ?(?:s|min)"), ""),
    (re.compile(r"\b\d+s \d+[munµ]?s/(?:step|epoch)"), ""),
    (re.compile(r"(?:(?<=_runtime': )|(?<=_per_second': ))[\d.]+"), ""),
    (re.compile(r"^.* ± .* per loop \(mean ± .*", re.MULTILINE), ""),
)
_READING = r"\d{1,15}(?::\d\d){0,2}(?:\.\d{1,20})?(?:e[-+]?\d{1,3})?"
_TIMES = (
    # 1h 2m 3s, 3.2 s, 12 minutes, 800 img/s
    re.compile(
        r"(?<![\w.:])\d{1,9}(?:h ?\d\d?m(?: ?\d\d?(?:\.\d{1,20})?s)?"
        r"|m ?\d\d?(?:\.\d{1,20})?s)(?!\w)"
    ),
    re.compile(
        rf"(?<![\w.:]){_READING} ?"
        r"(?:[nuµμm]?s|secs?|seconds?|mins?|minutes?|hrs?|hours?|[a-z]{1,12}/s(?:ec)?)(?!\w)",
        re.IGNORECASE,
    ),
    # time: 3.2, Training time on cpu = 3.2, elapsed 0:00:03.2; not the loss that follows
    re.compile(
        r"\b((?:time|took|taken|elapsed|duration|runtime|seconds|eta)\b"
        rf"(?:(?!loss|acc|err|score|val)[^\d\n,;|]){{0,24}}?){_READING}",
        re.IGNORECASE,
    ),
)
"""What a cell that reads a clock prints of it."""

_WIDGETS = "application/vnd.jupyter.widget-"


def without_noise(text: str, *, timed: bool = False) -> str:
    """Take out what differs between two runs that did the same.

    Memory addresses, the times of tqdm's bars and of ``%time`` go; of a line that was
    overwritten by carriage returns, only the last state stays.

    Args:
        text: What was shown.
        timed: Whether the cell reads a clock: then numbers that are called times go as well.
    """
    if "\r" in text:
        text = "\n".join(
            next((part for part in reversed(line.split("\r")) if part), "")
            for line in text.split("\n")
        )
    for pattern, instead in _CHANGES_EACH_RUN:
        text = pattern.sub(instead, text)
    if timed:
        for pattern in _TIMES:
            text = pattern.sub(lambda found: found[1] if found.lastindex else "", text)
    return text


def text_value(text: str, *, timed: bool = False) -> Fingerprint:
    """Return what is kept of a text: its digest, its size, and the numbers in it."""
    clean = without_noise(text, timed=timed)
    numbers = tuple(float(match) for match in _NUMBER.findall(clean[:MOST_TEXT]))
    lines = clean.count("\n") + (not clean.endswith("\n"))
    return Fingerprint(
        digest=xxh3_64_hexdigest(clean.encode("utf-8", "surrogatepass")),
        kind="text",
        summary="1 line" if lines == 1 else f"{lines:,} lines",
        series=numbers if 0 < len(numbers) <= _MOST_NUMBERS else None,
    )


def bundle_value(bundle: Mapping[str, Any]) -> Fingerprint:
    """Return what is kept of a display: its digest, without widget models and addresses."""
    if not isinstance(bundle, dict):
        bundle = {}  # what no front end shows
    clean = {
        kind: without_noise(data) if isinstance(data, str) and kind.startswith("text/") else data
        for kind, data in dict.items(bundle)
        if isinstance(kind, str) and not kind.startswith(_WIDGETS)
    }
    try:
        content = json.dumps(clean, sort_keys=True, default=_plain)
    except (TypeError, ValueError, RecursionError):  # what no front end could show either
        content = ""
    return Fingerprint(
        digest=xxh3_64_hexdigest(content.encode("utf-8", "surrogatepass")),
        kind="display",
        summary=", ".join(sorted(clean)),
    )


def _plain(data: object) -> str:
    """Name what JSON does not hold; nothing of the user's is called for it."""
    return xxh3_64_hexdigest(data) if type(data) is bytes else type(data).__name__


class Outputs(Struct):
    """What a run showed so far.

    Attributes:
        timed: Whether its cell reads a clock, as in ``without_noise``.
        text: What was printed, up to ``MOST_TEXT`` characters.
        displays: What is kept of each bundle that was displayed.
    """

    timed: bool = False
    text: list[str] = []
    displays: list[Fingerprint] = []
    _size: int = 0

    def printed(self, text: str) -> None:
        """Note printed text."""
        if self._size < MOST_TEXT:
            self.text.append(text)
        self._size += len(text)

    def displayed(self, bundle: Mapping[str, Any]) -> None:
        """Note a display; its bundle is not kept, as images are large."""
        if len(self.displays) < _MOST_DISPLAYS:
            self.displays.append(bundle_value(bundle))

    def stdout(self) -> Fingerprint | None:
        """Return what is kept of all that was printed."""
        if not self._size:
            return None
        value = text_value("".join(self.text), timed=self.timed)
        if self._size <= MOST_TEXT:
            return value
        return Fingerprint(value.digest, "text", f"{self._size:,} characters", exact=False)
