"""Reads the visible text of HTML."""

from __future__ import annotations

from html.parser import HTMLParser

from ipytorchseed.patterns import lazy_pattern

_BLANK = lazy_pattern(r"\s+")
_UNSEEN = frozenset({"script", "style", "head", "title", "template"})
_CELL = frozenset({"td", "th"})
_IN_LINE = frozenset({"a", "b", "code", "em", "i", "small", "span", "strong", "sub", "sup", "u"})


class _Text(HTMLParser):
    """Collects the visible text of HTML, with a line for each row of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 -- the parser's
        self._unseen += tag in _UNSEEN
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in _UNSEEN and self._unseen > 0
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.said.append(_BLANK.sub(" ", data))

    def _break(self, tag: str) -> None:
        if tag not in _IN_LINE:
            self.said.append("  " if tag in _CELL else "\n")


def read_html(html: str) -> str:
    """Return the visible text of HTML."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.said).split("\n"))
    return "\n".join(line for line in lines if line)
