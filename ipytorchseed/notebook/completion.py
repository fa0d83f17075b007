"""Adds Tab completion for the words and options of our magics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Find = Callable[[str], "tuple[str, list[str]] | None"]


def make_matcher(find: Find) -> Callable[[Any], dict[str, object]] | None:
    """Return IPython's matcher for the words that follow our magics.

    Args:
        find: Returns the unfinished word of a line and its completions; None if the line does not
            use our magics.

    Returns:
        The matcher; None before IPython 8.6.
    """
    try:
        from IPython.core.completer import SimpleCompletion, context_matcher
    except ImportError:
        return None

    @context_matcher()  # type: ignore[untyped-decorator]
    def match(context: Any) -> dict[str, object]:  # noqa: ANN401 -- CompletionContext
        last, words = find(context.text_until_cursor) or (context.token, [])
        # A `complete_command` hook could not keep Python's own names out of the list.
        return {
            "completions": [SimpleCompletion(word) for word in words],
            "matched_fragment": last,
            "ordered": True,
            "suppress": True,
        }

    return match  # type: ignore[no-any-return]


def add_hooks(shell: Any, signs: list[str], find: Find) -> Callable[[], None]:  # noqa: ANN401
    """Complete words in IPython before 8.6, as in Colab.

    Args:
        shell: The running shell.
        signs: How each magic is typed, ``%seed`` or ``%%deterministic``.
        find: As for ``make_matcher``.

    Returns:
        A function that removes the hooks.
    """

    def complete(_: object, event: Any) -> list[str]:  # noqa: ANN401 -- a plain namespace
        found = find(event.text_until_cursor)
        return [] if found is None else found[1]

    for sign in signs:
        shell.set_hook("complete_command", complete, str_key=sign)
    hooks = shell.strdispatchers["complete_command"].strs

    def undo() -> None:
        for sign in signs:
            chain = hooks[sign].chain
            chain[:] = [each for each in chain if getattr(each[1], "__func__", 0) is not complete]

    return undo
