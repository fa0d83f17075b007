"""A button below a cell."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets  # noqa: TID253 -- this file is loaded where a button is shown


def make_button(word: str, press: Callable[[], object]) -> ipywidgets.Button:
    """Make a button; it is displayed as any widget is.

    Args:
        word: What it says.
        press: Called when it is pressed.
    """
    button = ipywidgets.Button(description=word)
    button.on_click(lambda _: press())
    return button
