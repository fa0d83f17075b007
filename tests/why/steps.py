"""Steps that restore state, each with an edit that omits it and a test."""

from __future__ import annotations

import importlib
import inspect
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PROVE = "tests/notebook/test_prove.py"
REPLAY = "tests/notebook/test_replay.py"
REWIND = "tests/experiment/test_rewind.py"
CHECK = "tests/experiment/test_check.py"
SETTINGS = "tests/notebook/test_settings_restored.py"
POLICY = "tests/experiment/test_policy.py"
TRIALS = "tests/experiment/test_trials.py"
ENGINE = "tests/experiment/test_engine.py"


class Step(NamedTuple):
    """An edit that leaves a step out.

    Attributes:
        module: The module to edit, in ``ipytorchseed``.
        old: The text to replace, which occurs once in the module.
        new: Its replacement.
        tests: Tests; at least one of them must fail then.
    """

    module: str
    old: str
    new: str
    tests: tuple[str, ...]


def _trials(old: str, new: str, *tests: str) -> Step:
    return Step("experiment.trials", old, new, tests)


def _proving(old: str, new: str, *tests: str) -> Step:
    return Step("experiment.proving", old, new, tests)


def _engine(old: str, new: str, *tests: str) -> Step:
    return Step("experiment.engine", old, new, tests)


def _rewind(old: str, new: str, *tests: str) -> Step:
    return Step("experiment.rewind", old, new, tests)


def _process(old: str, new: str, *tests: str) -> Step:
    return Step("experiment.process", old, new, tests)


def _policy(old: str, new: str) -> Step:
    return Step("experiment.policy", old, new, (POLICY,))


def _proofs(old: str, new: str, *tests: str) -> Step:
    return Step("notebook.proving", old, new, tests)


def _search(old: str, new: str, *tests: str) -> Step:
    return Step("experiment.search", old, new, tests)


def _mixture(old: str, new: str, *tests: str) -> Step:
    return Step("experiment.mixture", old, new, tests)


def _leave(old: str, new: str, *tests: str) -> Step:
    return Step("notebook.rerun", old, new, tests)


_UNDO = f"{REPLAY}::test_undo_puts_names_sources_and_flags_back"
_NEW_NAMES = f"{REPLAY}::test_undo_takes_new_names_away"
_NOT_COPIED = f"{REPLAY}::test_undo_puts_back_what_is_not_copied"
_FOLDER = f"{REPLAY}::test_the_folder_and_settings_of_libraries_are_as_then"
_FLAGS = f"{REPLAY}::test_flags_and_variables_of_the_environment_are_as_then"
_HELPER = f"{REPLAY}::test_a_variable_that_a_helper_asks_for_is_as_then"
_MODEL = f"{PROVE}::test_a_model_goes_back_with_its_optimizer"
_INTERRUPT = f"{CHECK}::test_an_interrupt_puts_everything_back"
_MAKER = f"{PROVE}::test_an_input_that_an_earlier_cell_makes"
_KEPT = f"{PROVE}::test_findings_are_kept_with_the_two_runs"

# The steps by name.
STEPS = {
    # An experiment starts like the later run, with one cause restored.
    "trial text": _trials(
        "source=against.source if trial.text else run.source", "source=run.source",
        f"{PROVE}::test_an_edit_of_the_cell",
    ),
    "trial sources": _trials(
        "before={**run.before, **states}", "before=run.before",
        f"{PROVE}::test_a_source_that_moved",
    ),
    "trial settings": _trials(
        "settings={**run.settings, **then}", "settings=run.settings",
        f"{PROVE}::test_a_flag",
    ),
    "trial flags that change together": _trials(
        "flag.changes_with == name", "flag.changes_with == name == ''", TRIALS,
    ),
    "trial folder": _trials(
        "return Trial(settings=frozenset({FOLDER}))", "return Trial()",
        f"{PROVE}::test_the_working_folder",
    ),
    "trial values": _engine("self.namespace.update(copies.names)", "pass", _MAKER),
    "trial modules": _engine(
        "(copies.names)\n        copies.hold()\n\n    def bind", "(copies.names)\n\n    def bind",
        f"{PROVE}::test_a_variable_of_a_module",
    ),
    "trial unbound": _proving(
        "{*self.run.missing, *trial.unbound}", "{*self.run.missing}",
        f"{PROVE}::test_a_name_that_was_not_there",
    ),
    "trial missing": _proving(
        "{*self.run.missing, *trial.unbound}", "{*trial.unbound}",
        f"{PROVE}::test_a_name_that_was_set_only_after_both_runs",
    ),
    "experiments join": _proving(
        "if self._earlier.steps:\n            self._join(engine)", "pass", PROVE,
    ),
    "trial files": _proving(
        "open_instead({path: self._copy_of(path) for path in trial.files})", "pass",
        f"{PROVE}::test_a_file_that_was_small",
    ),
    "trial kept values": _proving(
        "kept = self._values[1].keys()", "kept = set()",
        f"{PROVE}::test_an_input_whose_maker_would_write_a_file",
    ),
    "experiments refuse": _mixture(
        "for path, reason in shared.items():", "for path, reason in ():",
        f"{PROVE}::test_what_cannot_be_copied_is_left_alone",
    ),
    "experiments leave": _proving("return self.engine.leave()", "return []", _MAKER),
    "experiments chdir": _proving(
        "os.chdir(step.run.settings[FOLDER])", "pass", f"{PROVE}::test_a_folder_of_the_later_run_that_is_gone",
    ),
    "experiments settings that stay": _proving(
        "if not self._is_set(each)]", "if False]", f"{PROVE}::test_a_working_folder_that_is_gone",
    ),
    "experiments cut graphs": _proving(
        "cut = [name for name in self.engine.cut if name in self.run.reads]", "cut = []",
        f"{PROVE}::test_a_graph_that_is_not_copied_is_the_reason",
    ),
    # A cell that runs again starts like its run.
    "begin imports": _rewind(
        "    import_lazy(step.run.packages)\n", "",
        f"{REPLAY}::test_a_source_that_the_cell_itself_imports_is_restored_in_another_kernel",
    ),
    "begin environment": _rewind("    _put_environment_back(step.run)\n", "", _FLAGS, _HELPER),
    "begin flags": _rewind("    _put_flags_back(step.run.settings)\n", "", _FLAGS),
    "begin libraries": _rewind("    restore_libraries(step.run.settings)\n", "", _FOLDER),
    "begin folder": _rewind('os.chdir(str(step.run.settings.get(FOLDER, "")))', "pass", _FOLDER),
    "begin states": _rewind(
        "rewind(ledger, step.run, generators, name, after=False)", "pass",
        f"{PROVE}::test_a_source_that_moved",
    ),
    "begin absent names": _engine(
        "for name in names if name in self.namespace}", "for name in ()}",
        f"{REPLAY}::test_a_name_that_the_run_did_not_find_is_not_found_again",
    ),
    # %replay --undo after a replay.
    "undo names": _engine("parts.callback(self._bind_again)", "pass", _UNDO),
    "undo new names": _engine("        del namespace[name]", "        pass", _NEW_NAMES),
    "undo held": _engine("parts.callback(self._held.hold)", "pass", _NOT_COPIED),
    "undo process": _engine("parts.callback(self._after.put_back)", "pass", _UNDO),
    "undo generators": _engine("parts.callback(generator.write, state)", "pass", _NOT_COPIED),
    "undo names set since": _engine(
        "        self.moved = {", "        _ = {",
        _UNDO,
    ),
    "rewind import": _rewind("    import_lazy()\n", "", REWIND),
    "rewind start": _rewind("    torch_random.start(states)\n", "", REWIND),
    "rewind other names": _rewind(
        "(each.name, *each.others)", "(each.name,)", REWIND,
    ),
    "rewind kinds": _rewind(
        "or _takes(each, states[name])", "or True", REWIND,
    ),
    # What runs without a question, and which experiments are reported and recorded.
    "policy left": _policy("if left := step.run.outside.left:", "if False:"),
    "policy interrupted": _policy('if run.status == "interrupted"', "if False"),
    "policy outside": _policy("if step.outside", "if False"),
    "policy input": _policy("if BY_PERSON in step.run.nondeterministic_calls", "if False"),
    "policy restart": _policy("if step.run.kernel != kernel", "if False"),
    "policy makers": _policy("sum(makers) +", "0 +"),
    "policy experiments": _policy("experiments * _seconds", "_seconds"),
    "policy slower run": _policy(
        "max(run.seconds_again for run in runs)", "runs[-1].seconds_again"
    ),
    "proofs policy": _proofs(
        "if experiments.blocked or self.asked:", "if True:",
        f"{PROVE}::test_what_is_not_tested_unasked",
    ),
    "proofs deadline": _proofs(
        "TimeLimit(None if self.asked else DEADLINE)", "TimeLimit(None)",
        f"{PROVE}::test_a_test_that_does_not_end_is_interrupted",
    ),
    "proofs outside": _proofs(
        "if outside and not yes", "if False",
        f"{PROVE}::test_a_cell_that_writes_a_file_is_not_run",
    ),
    "proofs commands": _proving(
        "        if commands:", "        if False:",
        f"{PROVE}::test_a_cell_that_gives_commands_is_not_run",
    ),
    "proofs apart": _proofs(
        "with before, self.state.tracking.isolated(), limit:", "with before, limit:", f"{PROVE}::test_a_source_that_moved",
    ),
    "proofs kept": _proofs(
        "session.ledger.add_findings(said.run.id, said.against.id, findings)", "pass", _KEPT,
    ),
    "proofs kept only if made": _proofs(
        "keep=keep", "keep=True", f"{PROVE}::test_a_folder_of_the_later_run_that_is_gone",
    ),
    "proofs not again": _proofs(" or (said.tested and not self.asked)", "", _KEPT),
    "proofs extra": _search(
        '", ".join(sorted(extra.values | extra.states))', "''", f"{PROVE}::test_a_source_that_only_the_earlier_text_draws_from",
    ),
    "proofs volatile": _search(
        "return compare(said.run, earlier, made, self._compared, self._passed_over)",
        "return compare(said.run, earlier, made, said.changed)",
        f"{PROVE}::test_a_variable_that_does_not_repeat",
    ),
    "proofs suspects": _search(
        "if _key(each) not in suspects]", "if True]",
        f"{PROVE}::test_a_counter_that_the_cell_goes_on_with",
    ),
    "proofs side effects": _search(
        "        if not also:\n            return verdict\n", "        return verdict\n",
        f"{PROVE}::test_an_input_that_only_a_counter_depends_on",
    ),
    "proofs reasons": _proofs(
        "return _not_restored(experiments) | found", "return found",
        f"{PROVE}::test_what_cannot_be_restored_is_told_beside_what_is_tested",
    ),
    "proofs own reasons": _proofs(
        "untested) | _not_restored(experiments)", "untested)",
        f"{PROVE}::test_an_input_that_nothing_makes",
    ),
    "proofs moved states": _proving(
        "kept = digests - present.pruned(digests)", "kept = digests", TRIALS,
    ),
    "proofs open inputs": _proving(
        "if not each.values <= wanted]", "if False]",
        f"{PROVE}::test_an_input_that_nothing_makes",
    ),
    "proofs attributes of classes": _mixture(
        "or id(e.owner) in classes", "",
        f"{PROVE}::test_an_attribute_of_a_class_that_the_cell_sets",
    ),
    "search parts": _search(
        "parts[label] = self._narrowed(label, found)", "pass", f"{PROVE}::test_an_input_whose_maker_would_write_a_file",
    ),
    "search repeats": _search(
        "return {0: judging.judge_repeat(self._result_with(frozenset()), hidden)}",
        "return {0: Finding()}",
        f"{PROVE}::test_a_cell_that_repeats_though_nothing_explains_its_change",
    ),
    "search groups": _mixture(
        "self._groups.append(sorted(names, key=sizes.__getitem__, reverse=True))",
        "return False", "tests/experiment/test_parts.py", PROVE,
    ),
    "compare other names": _trials(
        '*(("variable", name) for name in other_names)', "",
        f"{PROVE}::test_another_name_of_a_part_of_a_model_is_no_result_of_its_own",
    ),
    "compare unknown": _trials(
        "alike = wanted and all(_is_alike(each, known, made) for each in wanted)", "alike = wanted",
        TRIALS,
    ),
    "compare wanted": _trials("alike = wanted and all", "alike = all", TRIALS),
    "compare all": _trials(
        "if alike and not compared(find_changes(known, made))", "if alike", TRIALS,
    ),
    # The shell and the process are unchanged afterwards, whatever the cells did.
    "leave folders": _leave(
        "undo.callback(visited.__setitem__, slice(None), [*visited])", "pass",
        f"{PROVE}::test_folders_that_experiments_enter_are_not_listed",
    ),
    "leave seeding": _leave(
        "undo.callback(vars(seeding).update, dict(vars(seeding)))", "pass",
        f"{PROVE}::test_a_rule_that_a_cell_sets_is_as_before",
    ),
    "leave": _leave("undo.callback(lambda: stays.extend(leave()))", "pass", _MAKER),
    "leave shell": _leave(
        "undo.enter_context(restored_shell(state.shell))", "pass",
        f"{PROVE}::test_an_interrupt_leaves_everything_as_before",
    ),
    "leave telling names": _engine("return [*unbound, *self", "return [*self", ENGINE),
    "leave telling values": _engine("*self._held.moved(), *self", "*self", ENGINE),
    "leave telling process": _engine("*self._after.moved(), *drawn", "*drawn", ENGINE),
    "leave telling generators": _engine("moved(), *drawn]", "moved()]", ENGINE),
    "process telling environment": _process("*found, *new]", "*found]", ENGINE),
    "process telling": _process(
        "if old[name] != new.get(name)]", "if False]", ENGINE,
    ),
    "repeat frozen": Step("experiment.repeating", "        self.engine.freeze()\n", "", (CHECK,)),
    # Process-wide state is unchanged afterwards.
    "process sources": _process("parts.callback(restore, self.sources)", "pass", _INTERRUPT),
    "process flags": _process(
        "parts.callback(restore_flags, self.flags)", "pass", _UNDO,
    ),
    "process libraries": _process(
        "            parts.callback(self.restore_libraries)\n", "", _FOLDER, SETTINGS,
    ),
    "process environment": _process(
        "            parts.callback(self._set_environment)\n", "", CHECK,
    ),
    "process folder": _process("            parts.callback(self._enter_folder)\n", "", CHECK),
    "engine names": _engine(
        "_rebind(self.namespace, self.original | copies.names)", "pass", CHECK,
    ),
    "engine held": _engine(
        "        copies.hold()\n        self._process.put_back()", "        self._process.put_back()",
        CHECK, PROVE,
    ),
    "engine process": _engine(
        "        copies.hold()\n        self._process.put_back()", "        copies.hold()", CHECK,
    ),
    "engine order": _engine(
        "if self.moved is None and [*named(self.namespace)] != [*wanted]:", "if False:",
        ENGINE,
    ),
    "engine held after": _engine("parts.callback(self._held.hold)", "pass", CHECK, PROVE),
    "engine process after": _engine(
        "parts.callback(self._after.put_back)", "pass", ENGINE,
    ),
    "engine aliases": _engine("and copier.knows(value)", "and False", CHECK, PROVE),
    "engine brought": _engine(
        "self._process.sources = replace(found, states={**left.states, **found.states})", "pass",
        "tests/notebook/test_check_imports.py",
    ),
}  # fmt: skip


@contextmanager
def left_out(name: str) -> Iterator[None]:
    """Leave a step out in this process while the context lasts."""
    kept = [(each, each.__code__) for each in _functions(_module(name)).values()]
    leave_out(name)
    try:
        yield
    finally:
        for function, code in kept:
            function.__code__ = code


def leave_out(name: str) -> None:
    """Leave a step out in this process from now on."""
    module, step = _module(name), STEPS[name]
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    edited = type(module)(module.__name__)
    exec(compile(text.replace(step.old, step.new), str(module.__file__), "exec"), vars(edited))  # noqa: S102 -- ours
    functions = _functions(edited)
    for path, function in _functions(module).items():
        function.__code__ = functions[path].__code__


def _module(name: str) -> Any:
    return importlib.import_module(f"ipytorchseed.{STEPS[name].module}")


def _functions(module: Any) -> dict[str, Any]:
    """Return the functions and methods of a module by their qualified names."""
    own = [each for each in vars(module).values() if _is_from(each, module)]
    members = [member for each in own if inspect.isclass(each) for member in vars(each).values()]
    found = [
        inspect.unwrap(getattr(each, "fget", None) or getattr(each, "__func__", each))
        for each in (*own, *members)
    ]
    return {
        each.__qualname__: each
        for each in found
        if inspect.isfunction(each) and _is_from(each, module)
    }


def _is_from(value: Any, module: Any) -> bool:
    return getattr(value, "__module__", None) == module.__name__
