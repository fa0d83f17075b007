"""What every view can do: print itself, and show itself in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod


class View(ABC):
    """A record made visible, as text and as static HTML."""

    @abstractmethod
    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""

    @abstractmethod
    def html(self) -> str:
        """Draw it for a notebook, without script."""

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()
