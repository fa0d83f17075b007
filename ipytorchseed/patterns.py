"""Regular expressions that are compiled when they are first used.

Python takes a quarter of a millisecond to compile one. Some hundred are defined where the first
cell of a kernel waits for it, and most notebooks meet few of the texts that they are for.
"""

from __future__ import annotations

import re
from typing import Any, cast


class LazyPattern:
    """A regular expression; its methods and attributes are those of ``re.Pattern``.

    Args:
        text: The expression.
        flags: As for ``re.compile``.
    """

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- as they are of a compiled one
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)  # not asked again
        return found


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled when it is first used.

    Args:
        text: The expression; an error in it is raised at its first use.
        flags: As for ``re.compile``.
    """
    return cast("re.Pattern[str]", LazyPattern(text, flags))
