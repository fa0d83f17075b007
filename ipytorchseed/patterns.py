"""Regular expressions that are compiled on first use.

Python takes a quarter of a millisecond to compile one. The first cell of a kernel would wait for
about a hundred of them, and most notebooks need only a few.
"""

from __future__ import annotations

import re
from typing import Any, cast


class LazyPattern:
    """A regular expression with the methods and attributes of ``re.Pattern``.

    Args:
        text: The expression.
        flags: As for ``re.compile``.
    """

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- any attribute of ``re.Pattern``
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)  # later look-ups do not call __getattr__
        return found


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled when it is first used.

    Args:
        text: The expression; an error in it is raised at its first use.
        flags: As for ``re.compile``.
    """
    return cast("re.Pattern[str]", LazyPattern(text, flags))
