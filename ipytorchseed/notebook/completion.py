"""Adds Tab completion for the words and options of our magics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

Find = Callable[[str], "tuple[str, list[str]] | None"]


def add_completer(shell: InteractiveShell, signs: Iterable[str], find: Find) -> Callable[[], None]:
    """Complete the words that follow our magics.

    Args:
        shell: The running shell.
        signs: How each magic is typed, ``%seed`` or ``%%deterministic``.
        find: Returns the unfinished word of a line and its completions; None if the line does not
            use our magics.

    Returns:
        A function that removes the completer.
    """
    try:
        from IPython.core.completer import SimpleCompletion, context_matcher
    except ImportError:  # before IPython 8.6, as in Colab
        return _add_hooks(shell, signs, find)

    @context_matcher()  # type: ignore[untyped-decorator]
    def match(context: Any) -> dict[str, object]:  # noqa: ANN401 -- CompletionContext
        found = find(context.text_until_cursor)
        last, words = found or (context.token, [])
        # A `complete_command` hook could not keep Python's own names out of the list.
        return {
            "completions": [SimpleCompletion(word) for word in words],
            "matched_fragment": last,
            "ordered": True,
            "suppress": True,
        }

    matchers = shell.Completer.custom_matchers
    matchers.append(match)
    return partial(_remove, matchers, match)


def _add_hooks(shell: Any, signs: Iterable[str], find: Find) -> Callable[[], None]:  # noqa: ANN401
    def complete(_: object, event: Any) -> list[str]:  # noqa: ANN401 -- a plain namespace
        found = find(event.text_until_cursor)
        return [] if found is None else found[1]

    signs = [*signs]
    for sign in signs:
        shell.set_hook("complete_command", complete, str_key=sign)
    hooks = shell.strdispatchers["complete_command"].strs

    def undo() -> None:
        for sign in signs:
            chain = hooks[sign].chain
            chain[:] = [each for each in chain if getattr(each[1], "__func__", 0) is not complete]

    return undo


def _remove(items: list[Any], item: object) -> None:
    with suppress(ValueError):  # another tool may have cleared the list
        items.remove(item)
