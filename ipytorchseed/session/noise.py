"""Removes text that is different in every run: addresses, times, counters.

Every pattern here takes linear time: its repeats are bounded, or end at a character that cannot
start the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from ipytorchseed.patterns import lazy_pattern

# The maximum number of characters of an error message to clean, compare and store.
MOST_ERROR = 10_000

_STAMP = (
    r"(?<!\w)(?:\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"|\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})"  # time.ctime()
)

# Finds a date with a time.
STAMP = lazy_pattern(_STAMP)

# The pattern starts with literal letters, so that the search is fast.
_ELEMENT_ID = lazy_pattern(r"""id(?<!\wid)\s*=\s*(["'])([^"']+)\1""")

# Finds a UUID at the end of an id, which other ids may have too: ``anim5f…``, ``_anim_img5f…``.
_UUID = lazy_pattern(r"[0-9a-f]{32}\Z")

# Finds random names in scripts, such as the ids of Bokeh's documents.
_RANDOM_ID = lazy_pattern(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b"
)

_SCRIPT = lazy_pattern(r"<script\b(?:(?!</?script\b).)*</script>", re.DOTALL)

_DATE = lazy_pattern(r"<dc:date>[^<]*</dc:date>")
_WORD = lazy_pattern(r"[\w-]+")

# Up to this many ids are also replaced inside words, which takes quadratic time.
_MANY = 500

# Marks each place where text was removed, until ``close_gaps`` removes the mark.
MASK = "\0"

_CHANGES_EACH_RUN = (
    # a pattern; the replacement, with a MASK unless whole lines are removed; words: each match
    # contains one of them
    (r"0x[0-9a-fA-F]{4,}", "0x\0", "0x"),
    (r"\bat 0x\b", "at\0", "at 0x"),
    (r"(?<=[<( ])id[= ]\d{6,}", "id\0", "id=", "id "),
    # IPython's handle of a display that can be updated
    (r"(?<=display_id=)[0-9a-f]{32}\b", "\0", "display_id="),
    # the file name in ipykernel's warnings, with the process id and a digest of the cell's text
    (r"(?<=ipykernel_)\d+(?=[/\\]\d+\.py)", "\0", "ipykernel_"),
    # tqdm: 57%|####| 57/100 [00:05<00:04, 10.6it/s, loss=0.3]
    (r"\[\d{1,9}:\d\d(?::\d\d)?(?:<[^,\[\]]{0,40})?,\s{0,9}[^,\[\]]{0,40}(?:/s|s/\w{1,40})", "[\0",
     "/s", "s/"),
    # printed if a cell loads an extension again, such as ipytorchseed during a check
    (r"(?m)^The [\w.]{1,200} extension is already loaded\. .*\n +%reload_ext .*\n?", "",
     " extension is already loaded"),
)  # fmt: skip

# The same for times that %time and %timeit print.
_TIMINGS = (
    (r"(?:CPU times:|Wall time:).*", "\0", "CPU times:", "Wall time:"),
    # lines that they print if compiling took long, or if times varied
    (r"(?m)^(?:Compiler(?: time)?|Parser) {0,9}: .*\n?", "", "Compiler", "Parser "),
    (r"(?m)^The slowest run took .*is being cached\.\n?", "", "The slowest run took"),
    (r"\d[^\n±]{0,20} ± [^\n±]{1,20} per loop \(mean ± .*", "\0", " per loop (mean ± "),
)  # fmt: skip

_READING = r"\d{1,15}(?::\d\d){0,2}(?:\.\d{1,20})?(?:e[-+]?\d{1,3})?"

# Patterns of times that a cell may print if it reads a clock.
_READINGS = (
    _STAMP,
    # 10:49:54
    r"(?<![\w.:])\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?(?![\w:])",
    # 'time': [3.2, 3.1]
    r"\b((?:times?|secs|seconds|elapsed|durations?)\b['\"]?\s{0,3}[:=]\s{0,3}\[)[-+.,\de\s]{1,9999}\]",
    # 1h 2m 3s, 3.2 s, 12 minutes, 800 img/s
    r"(?<![\w.:])\d{1,9}(?:h ?\d\d?m(?: ?\d\d?(?:\.\d{1,20})?s)?|m ?\d\d?(?:\.\d{1,20})?s)(?!\w)",
    (rf"(?i)(?<![\w.:]){_READING} ?"
     r"(?:[nuµμm]?s|secs?|seconds?|mins?|minutes?|hrs?|hours?|[a-z]{1,12}/s(?:ec)?)(?!\w)"),
    # time: 3.2, Training time on cpu = 3.2, elapsed 0:00:03.2; not the loss that follows
    (r"(?i)\b((?:time|took|taken|elapsed|duration|runtime|seconds|eta)\b(?=[^\d\n,;|]{0,24}\d)"
    rf"(?:(?!loss|acc|err|score|val)[^\d\n,;|]){{0,24}}?){_READING}"),
)  # fmt: skip

_RULES, _TIMING_RULES = (
    [(words, lazy_pattern(text), instead) for text, instead, *words in rules]
    for rules in (_CHANGES_EACH_RUN, _TIMINGS)
)
_TIMES = [lazy_pattern(text) for text in _READINGS]

# Finds an integer that may be the address of an object.
_PLACE = lazy_pattern(r"(?<![\w.])\d{10,15}(?![\w.]?\d)")

_BLANKS = lazy_pattern(r"[ \t]{2,}")
_GAPS = lazy_pattern(r"(?<![ \t])[ \t]*(?:\x00[ \t]*)+")


def close_gaps(text: str) -> str:
    """Remove the marks from a text, and the blanks around them.

    The number of blanks may depend on the removed text: progress bars pad shorter lines, and tables
    align columns.
    """
    if MASK not in text:
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if MASK in line:
            lines[at] = _BLANKS.sub(" ", _GAPS.sub("", line)).rstrip(" \t")
    return "\n".join(lines)


def without_addresses(text: str) -> str:
    """Remove integers that may be addresses from a text."""
    return close_gaps(_PLACE.sub(MASK, text))


def is_timing(text: str) -> bool:
    """Return whether a text may contain times that ``%time`` and ``%timeit`` print."""
    return any(word in text for words, *_ in _TIMING_RULES for word in words)


def without_noise(text: str, *, timed: bool = False, timings: bool = False) -> str:
    """Remove addresses, ids, and times that ``%time``, ``%timeit`` and tqdm print.

    Lines that carriage returns overwrote are reduced to their last state.

    Args:
        text: The text.
        timed: Whether the cell reads a clock. If so, all numbers that look like times are removed.
        timings: Whether to keep the times that ``%time`` and ``%timeit`` print.
    """
    text = as_overwritten(text, MASK)
    for words, pattern, instead in _RULES if timings else (*_RULES, *_TIMING_RULES):
        if any(word in text for word in words):
            text = pattern.sub(instead, text)
    if timed:
        for pattern in _TIMES:
            text = pattern.sub(lambda found: (found[1] if found.lastindex else "") + MASK, text)
    return close_gaps(text)


def without_ids(text: str, *, is_script: bool = False) -> str:
    """Replace random ids in HTML, SVG or a script with numbers, and remove dates."""
    text = _DATE.sub("", without_noise(text))
    scripts = [text] if is_script else _SCRIPT.findall(text) if "<script" in text else []
    ids = (name for _, name in _ELEMENT_ID.findall(text))
    names = [name[-32:] if _UUID.search(name) else name for name in ids]
    names = list(dict.fromkeys([*names, *_RANDOM_ID.findall(" ".join(scripts))]))
    if not names:
        return text
    number = {name: f"id-{count}" for count, name in enumerate(names)}
    longest = sorted(names, key=len, reverse=True)  # because one may be a prefix of another
    every = re.compile("|".join(map(re.escape, longest))) if len(names) <= _MANY else _WORD
    return every.sub(lambda found: number.get(found.group(), found.group()), text)


def cleaner(kind: str) -> Callable[[str], str] | None:
    """Return the function that removes noise from data of a MIME type, or None."""
    if is_markup(kind) or kind.endswith("/javascript"):
        return partial(without_ids, is_script=not is_markup(kind))
    return without_noise if kind.startswith("text/") else None


def is_markup(kind: str) -> bool:
    """Return whether a MIME type is that of HTML or XML."""
    return kind == "text/html" or kind.endswith(("+xml", "/xml"))


def as_overwritten(text: str, mark: str = "") -> str:
    """Reduce lines that carriage returns overwrote to their last state.

    Args:
        text: The text.
        mark: A string to append to such lines.
    """
    if "\r" not in text:
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if "\r" in line:
            lines[at] = next(filter(None, reversed(line.split("\r"))), "") + mark
    return "\n".join(lines)
