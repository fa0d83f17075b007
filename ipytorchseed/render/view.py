"""What every view can do: print itself, and show itself in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ipytorchseed.render.html import fill


class View(ABC):
    """A record made visible, as text and as static HTML.

    Attributes:
        template: The name of its template, which is filled from the view itself.
    """

    template = ""

    @abstractmethod
    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""

    def html(self) -> str:
        """Draw it for a notebook, without script."""
        return fill(self.template, view=self)

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()
