"""The base of magics: parses a line, calls its command, reports errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import MAGIC_NO_VAR_EXPAND_ATTR
from IPython.display import display

from ipytorchseed.errors import IPyTorchSeedError, LookupFailure
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.own_lines import MARK, is_inspection, is_inspection_magic
from ipytorchseed.render.text import visible

if TYPE_CHECKING:
    import click

    from ipytorchseed.notebook.state import State


# Matches a word. Quotes may surround a part of it, and stay in it: ``rngs['train']`` is a
# generator's name. A comment is one word, but ``#17`` is a run.
_WORD = lazy_pattern(r"""#(?!\d).*|(?:[^\s"']|"[^"]*"|'[^']*')+""")

_COMMENT = lazy_pattern(r"#(?!\d)")

# Matches a word in a line that is being typed; its last quotation mark may not be closed yet.
_TYPED = lazy_pattern(r"""(?:[^\s"']|"[^"]*"?|'[^']*'?)+""")

_VARIABLE = lazy_pattern(r"\$[A-Za-z_$]|\{")

# The number of frames from ``_words`` to the calling code: ours and those of ``run_line_magic``.
_CALLER = 4


def as_word(name: str) -> str:
    """Quote a name if needed, so that a magic parses it as one word.

    Args:
        name: The name, for example of a saved state.

    Raises:
        LookupFailure: The name cannot be typed in a magic's line.
    """
    name = name.strip()
    if not name or name.startswith("-") or re.search(r"[\"'${}\\]", name) or visible(name) != name:
        raise LookupFailure(
            f"{name!r} is not a valid name: a name has at least one letter, does not start with -,"
            " and contains none of \" ' $ { } \\ or invisible characters"
        )
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'


class Magic:
    """The object that IPython calls for ``%name line`` or ``%%name line``.

    Words, options, help and completion come from one click command. Its module is imported on
    first use.

    Args:
        kind: ``line`` or ``cell``.
        name: The name without percent signs.
        module: The module whose ``line`` or ``cell`` is the click command.
        state: The extension's state, which the command receives.
    """

    def __init__(self, kind: str, name: str, module: str, state: State) -> None:
        self.kind = kind
        self.name = self.__name__ = name
        self.sign = ("%%" if kind == "cell" else "%") + name
        self._module, self._state = module, state
        setattr(self, MAGIC_NO_VAR_EXPAND_ATTR, True)  # we expand variables, to detect empty ones

    @property
    def command(self) -> click.Command:
        """The click command, which declares words and options."""
        made: click.Command = getattr(import_module(self._module), self.kind)
        return made

    @property
    def __doc__(self) -> str:  # type: ignore[override] # shown by %name?
        """The help text, from the declaration."""
        import click

        return self.command.get_help(click.Context(self.command, info_name=self.sign))

    def __call__(self, line: str, cell: str | None = None) -> object:
        """Run the magic.

        Args:
            line: What follows its name.
            cell: The body of a cell magic; None where the transformer left it in the cell.

        Raises:
            UsageError: The line does not fit the declaration; the message is one line.
        """
        looking = not self._state.commanded and is_inspection_magic(self.name, line)
        try:
            with self._looking() if looking else nullcontext():
                return self._run(self.command, line, cell)
        except KeyboardInterrupt as interrupt:  # our frames would not help the user
            raise interrupt.with_traceback(None) from None

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Mark what the block shows as ours, and do not record it.

        If a program runs the notebook, a usage error is displayed and does not stop the run. If the
        cell then also has other code, printed text is displayed, because only displays can be
        marked as ours.
        """
        state = self._state
        publisher: Any = state.shell.display_pub

        def mark(message: Any) -> Any:  # noqa: ANN401 -- ipykernel's
            content = message["content"]
            if "metadata" in content:
                content["metadata"][MARK] = {"what": self.name}
            return message

        with state.tracking.unrecorded() as source, ExitStack() as undo:
            if hasattr(publisher, "register_hook"):  # only ipykernel's displays are stored
                publisher.register_hook(mark)
                undo.callback(publisher.unregister_hook, mark)
            unattended = state.allows_input is False
            if unattended and not is_inspection(source):
                printed = undo.enter_context(redirect_stdout(StringIO()))
                undo.callback(lambda: _display_text(printed.getvalue()))
            try:
                yield
            except UsageError as error:
                if not unattended:
                    raise
                _display_text(str(error))

    def _run(self, command: click.Command, line: str, cell: str | None) -> object:
        """Call the command, and show the text or view that a line magic returns."""
        import click

        try:
            words = self._words(line)
            with command.make_context(self.sign, [*words]) as context:  # click empties its list
                context.obj = self._state
                if self.kind == "cell":
                    context.params["typed"] = words, cell
                made = command.invoke(context)
            if self.kind == "cell":  # IPython shows it as the cell's result
                return made
            if isinstance(made, str):
                click.echo(made)
            elif made is not None:
                display(made)
        except click.exceptions.Exit:  # after --help
            pass
        except click.UsageError as error:
            raise UsageError(self._one_line(error)) from None
        except IPyTorchSeedError as error:
            raise UsageError(visible(f"{self.sign}: {error}")) from None
        return None

    def complete(self, line: str) -> tuple[str, list[str]]:
        """Return the unfinished word of a line and its completions.

        Args:
            line: The text typed after the magic's name.
        """
        from click.shell_completion import ShellComplete

        words: list[str] = _TYPED.findall(line)
        last = words.pop() if words and line.endswith(words[-1]) else ""
        typed = [_unquoted(word) for word in words]
        complete = ShellComplete(self.command, {"obj": self._state}, self.sign, "").get_completions
        items = complete(typed, last) + ([] if last else complete(typed, "-"))
        return last, list(dict.fromkeys(item.value for item in items))

    def _words(self, line: str) -> list[str]:
        import click

        shell = self._state.shell
        line = _WORD.sub(lambda word: "" if _COMMENT.match(word[0]) else word[0], line)
        expanded = shell.var_expand(line, depth=_CALLER) if _VARIABLE.search(line) else line
        if line.strip() and not expanded.strip():
            raise click.UsageError(f"{line.strip()} is empty")
        if expanded == line and _VARIABLE.search(line):
            message = f"{line.strip()} cannot be evaluated: is every name in it defined?"
            raise click.UsageError(message)
        if _WORD.sub("", expanded).strip():
            raise click.UsageError(f"a quotation mark is not closed in {line.strip()}")
        words: list[str] = _WORD.findall(expanded)
        return [_unquoted(word) for word in words]

    def _forms(self) -> dict[str, click.Command]:
        """Return the commands of the magics with this name, by what the user types."""
        forms = {}
        for table in self._state.shell.magics_manager.magics.values():
            magic = table.get(self.name)
            if isinstance(magic, Magic):
                forms[magic.sign] = command = magic.command
                for name, each in getattr(command, "commands", {}).items():
                    forms[f"{magic.sign} {name}"] = each
        return forms

    def _one_line(self, error: click.UsageError) -> str:
        import click

        from ipytorchseed.commands import no_such_option

        context = error.ctx or click.Context(self.command, info_name=self.sign)
        options = [each for each in context.command.params if isinstance(each, click.Option)]
        listed = " ".join(_shown(option) for option in options)
        said = error.format_message().rstrip(".")
        if isinstance(error, click.NoSuchOption):
            said = no_such_option(error.option_name, context, self._forms())
        form = context.get_usage().replace("[OPTIONS]", listed)
        line = " ".join(f"{self.sign}: {said}{'' if said.endswith('?') else '.'} {form}".split())
        return visible(line)


def _display_text(text: str) -> None:
    if text:
        display({"text/plain": text.rstrip("\n")}, raw=True)


def _unquoted(word: str) -> str:
    return word.strip(word[0]) if word[0] in "\"'" else word


def _shown(option: click.Option) -> str:
    """Format an option for the usage line."""
    return f"[{option.opts[0]} {option.metavar or ''}".rstrip() + "]"


Find = Callable[[str], "tuple[str, list[str]] | None"]


def add_completer(shell: Any, signs: list[str], find: Find) -> Callable[[], None]:  # noqa: ANN401
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
        last, words = find(context.text_until_cursor) or (context.token, [])
        # A `complete_command` hook could not keep Python's own names out of the list.
        found = {"completions": [*map(SimpleCompletion, words)], "matched_fragment": last}
        return {**found, "ordered": True, "suppress": True}

    shell.Completer.custom_matchers.append(match)
    return lambda: shell.Completer.custom_matchers.remove(match)


def _add_hooks(shell: Any, signs: list[str], find: Find) -> Callable[[], None]:  # noqa: ANN401
    def complete(_: object, event: Any) -> list[str]:  # noqa: ANN401 -- a plain namespace
        found = find(event.text_until_cursor)
        return [] if found is None else found[1]

    for sign in signs:
        shell.set_hook("complete_command", complete, str_key=sign)

    def undo() -> None:
        for sign in signs:
            chain = shell.strdispatchers["complete_command"].strs[sign].chain
            chain[:] = [each for each in chain if getattr(each[1], "__func__", 0) is not complete]

    return undo
