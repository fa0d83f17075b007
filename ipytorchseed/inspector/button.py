"""A button below a cell."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets  # noqa: TID253 -- this file is imported only to show a button


def make_button(word: str, press: Callable[[], object]) -> ipywidgets.Button:
    """Make a button, which is displayed like any widget.

    Args:
        word: The label.
        press: Called when the button is pressed.
    """
    button = ipywidgets.Button(description=word)
    button.on_click(lambda _: press())
    return button
