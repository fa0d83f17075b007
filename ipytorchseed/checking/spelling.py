"""Normalizes the text of values that library versions print differently."""

from __future__ import annotations

from ipytorchseed.patterns import lazy_pattern

_SIZED = r"(?:u?int|float|datetime|timedelta)\d+"
_OTHERS = r"u?intc|u?longlong|longdouble|bool_?|str_|bytes_"

# numpy 2 names the type: np.int64(19)
_SPELLINGS = [
    (lazy_pattern(r"\bnumpy\.(?=\w+\()"), "np."),
    (lazy_pattern(r"\bnp\.c(?:omplex\d+|longdouble)\(([^()]*)\)"), r"(\1)"),
    (lazy_pattern(rf"\bnp\.(?:{_SIZED}|{_OTHERS})\(([^()]*)\)"), r"\1"),
    (lazy_pattern(r"\bnp\.(True|False)_(?!\w)"), r"\1"),
]

# An object shown only by its class and address, as ``without_noise`` leaves it.
_BARE = lazy_pattern(r"<[\w.]+(?: object)? at>")

# Any object; matplotlib's ``AxesSubplot`` is now an ``Axes``.
_OBJECT = lazy_pattern(r"<(?:\w+\.)*+(\w+?)(?:Subplot)?\b[^<>]*+>")


def in_one_spelling(before: str, after: str) -> tuple[str, str]:
    """Return two texts with equal values written alike.

    If one text shows an object only by its class, so does the other.

    Args:
        before: The earlier text, without parts that differ in every run.
        after: The later text, also without them.
    """
    texts = before, after
    for pattern, instead in _SPELLINGS:
        texts = pattern.sub(instead, texts[0]), pattern.sub(instead, texts[1])
    if any(_BARE.search(each) for each in texts):
        texts = _OBJECT.sub(r"<\1>", texts[0]), _OBJECT.sub(r"<\1>", texts[1])
    return texts
