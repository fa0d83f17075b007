"""Compares one fresh run with the outputs in the file.

All kinds of outputs and files.
"""

from __future__ import annotations

import base64
import io
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image, ImageDraw

from ipytorchseed.checking import report
from ipytorchseed.checking.grading import Found, grade_text
from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.outputs import read_html
from ipytorchseed.checking.passes import Pass
from ipytorchseed.checking.report import as_junit
from ipytorchseed.checking.saved import compare_saved
from ipytorchseed.errors import UncheckableError
from ipytorchseed.why.changes import SHOWN_OTHERWISE
from tests.checking.books import SPEC, compare_outputs, look

SAME, ROUNDING, DIFFERS, UNKNOWN = "same", "rounding", "different", "unknown"


def printed(text, name="stdout"):
    """Return printed text."""
    return new_output("stream", name=name, text=text)


def result(text, **kinds):
    """Return a result; ``text_html`` is of that MIME type."""
    data = {"text/plain": text} if text else {}
    data |= {kind.replace("_", "/"): value for kind, value in kinds.items()}
    return new_output("execute_result", data, execution_count=1)


def shown(text="", **kinds):
    """Return a display."""
    return new_output("display_data", result(text, **kinds)["data"])


def raised(name, value):
    """Return an error."""
    return new_output("error", ename=name, evalue=value, traceback=[f"\x1b[31m{name}"])


def picture(level=0, size=(60, 40), line=10):
    """Encode a white image with a line in it."""
    image = Image.new("RGB", size, (255 - level, 255, 255))
    ImageDraw.Draw(image).line([(0, line), (size[0], line)], (0, 0, 0))
    out = io.BytesIO()
    image.save(out, "png")
    return base64.b64encode(out.getvalue()).decode()


def write(path, *cells):
    """Write a notebook of cells, each with its outputs and optional number."""
    made = [
        new_code_cell(source, id=f"cell-{index}", outputs=outputs, execution_count=count)
        for index, (source, outputs, *numbers) in enumerate(cells)
        for count in (numbers or [index + 1])
    ]
    path = path.with_suffix(".ipynb")
    nbformat.write(new_notebook(cells=made, metadata={"kernelspec": SPEC}), path)
    return path


SHOW = "from IPython.display import display\n"
TABLE = "<table><tr><th>loss</th></tr><tr><td>{}</td></tr></table>"
HTML = "class T:\n    def _repr_html_(self): return {!r}\n    def __repr__(self): return 'T'\nT()"
IMAGE = (
    SHOW + "import base64\ndisplay({{'image/png': {!r}, 'text/plain': '<Figure>'}}, raw=True)"
).format

CELLS = {
    "the same text": ("print('loss 0.5')", [printed("loss 0.5\n")], SAME),
    "many pieces": ("print('a\\nb')", [printed("a\n"), printed("b"), printed("\n")], SAME),
    "blanks nobody sees": ("print('a ')", [printed("a\n")], SAME),
    "colours": ("print('\\x1b[31mred\\x1b[0m')", [printed("\x1b[1mred\x1b[0m\n")], SAME),
    "an address": ("object()", [result("<object at 0x7fae12345670>")], SAME),
    "the last digits": ("0.1 + 0.2", [result("0.30000001")], ROUNDING),
    "another number": ("0.1 + 0.2", [result("0.31")], DIFFERS),
    "a count": ("1_000_001", [result("1000000")], DIFFERS),
    "a time that is printed": (
        "import time\nprint(f'took {time.time() % 1:.6f} s, loss 0.5')",
        [printed("took 3.2 s, loss 0.5\n")],
        SAME,
    ),
    "a loss beside a time": (
        "print(f'took {time.time() % 1:.6f} s, loss 0.5')",
        [printed("took 3.2 s, loss 0.4\n")],
        DIFFERS,
    ),
    "a moment": (
        "print(f'[{time.strftime(\"%Y-%m-%d %X\")}] x')",
        [printed("[2020-01-31 23:59:59] x\n")],
        SAME,
    ),
    "a time that a variable holds": ("t0 = time.time()", [], SAME),
    "a time that is shown later": ("t0", [result("1700000000.5")], DIFFERS),
    "an address that is asked for": ("id(time)", [result("140234866123456")], SAME),
    "what looks like an address": ("140234866123472", [result("140234866123456")], DIFFERS),
    "a bar": (
        "import sys\nprint('\\r100%|####| 9/9 [00:01<00:00, 8.81it/s]', file=sys.stderr)",
        [
            printed("\r 50%|## | 5/9", "stderr"),
            printed("\r100%|####| 9/9 [00:07<00:00, 1.31it/s]\n", "stderr"),
        ],
        SAME,
    ),
    "a warning of another version": (
        "import warnings\nwarnings.warn('old')",
        [printed("/home/me/lib/x.py:7: FutureWarning: so\n  call()\n", "stderr")],
        SAME,
    ),
    "an installer": ("!pip install --help", [printed("Requirement already satisfied\n")], SAME),
    "another program": ("!echo 1", [printed("2\n")], DIFFERS),
    "what Colab cut": (
        "for n in range(9): print(n)",
        [printed("Streaming output truncated to the last 3 lines.\n6\n7\n8\n")],
        SAME,
    ),
    "what VS Code cut": (
        "for n in range(9): print(n)",
        [printed("Output exceeds the [size limit](command:x). Open it\n0\n1\n...\n7\n8\n")],
        SAME,
    ),
    "what Jupyter dropped": (
        "print('all of it')",
        [printed("all\n"), printed("IOPub data rate exceeded.\n", "stderr")],
        SAME,
    ),
    "a table, rounded": (
        HTML.format(TABLE.format("0.3000001")),
        [result("T", text_html=TABLE.format("0.3"))],
        ROUNDING,
    ),
    "a table in other markup": (
        HTML.format(TABLE.format("0.3")),
        [
            result(
                "T",
                text_html=f"<div id='df-1'><style>td {{}}</style>{TABLE.format('0.3')}<button>"
                "<svg></svg></button><script>draw(7)</script></div>",
            )
        ],
        SAME,
    ),
    "a table with another number": (
        HTML.format(TABLE.format("0.3")),
        [result("T", text_html=f"<div>{TABLE.format('0.4')}</div>")],
        DIFFERS,
    ),
    "a chart's data in a script": (
        HTML.format("<div></div><script>draw([1, 2.5])</script>"),
        [result("T", text_html="<div></div><script>draw([1, 2.6])</script>")],
        DIFFERS,
    ),
    "what only one front end adds": (
        HTML.format("<b>x</b>"),
        [result("T", text_html="<b>x</b>", **{"application/vnd.google.colab+json": {"a": 1}})],
        SAME,
    ),
    "a kind that shows no more than plain text": (
        "3",
        [result("3", text_html="<b>3</b>")],
        SAME,
    ),
    "a kind that shows more than plain text": (
        "object()",
        [result("<object object at 0x7fae12345670>", text_html="<b>3</b>")],
        DIFFERS,
    ),
    "the same pixels": (IMAGE(picture()), [shown("<Figure>", image_png=picture())], SAME),
    "pixels that nobody can tell apart": (
        IMAGE(picture(2)),
        [shown("<Figure>", image_png=picture())],
        SAME,
    ),
    "another line in a figure": (
        IMAGE(picture(line=20)),
        [shown("<Figure>", image_png=picture())],
        DIFFERS,
    ),
    "a figure of another size": (
        IMAGE(picture(size=(30, 40))),
        [shown("<Figure>", image_png=picture())],
        DIFFERS,
    ),
    "a figure that is gone": ("display(1)", [shown("1", image_png=picture())], DIFFERS),
    "JSON": (
        SHOW + "display({'application/json': {'b': 1.0000001, 'a': 1}}, raw=True)",
        [shown(application_json={"a": 1, "b": 1.0})],
        ROUNDING,
    ),
    "LaTeX": (
        SHOW + "display({'text/latex': '$0.5 x$'}, raw=True)",
        [shown(text_latex="$0.25 x$")],
        DIFFERS,
    ),
    "a widget": (
        "import ipywidgets\nipywidgets.IntSlider(3)",
        [
            result(
                "IntSlider(value=3)",
                **{"application/vnd.jupyter.widget-view+json": {"model_id": "a"}},
            )
        ],
        SAME,
    ),
    "a widget that was moved": (
        "ipywidgets.IntSlider(4)",
        [result("IntSlider(value=3)")],
        DIFFERS,
    ),
    "a widget without text": (
        "ipywidgets.IntSlider(4)",
        [shown(**{"application/vnd.jupyter.widget-view+json": {"model_id": "a"}})],
        SAME,
    ),
    "a number whose type is named now": ("import numpy as np\nnp.int64(19)", [result("19")], SAME),
    "numbers whose types are named now": (
        "(np.float64(0.0), np.float64(16.0))",
        [result("(0.0, 16.0)")],
        SAME,
    ),
    "another number whose type is named now": ("np.int64(20)", [result("19")], DIFFERS),
    "a call in a text": ("'np.sqrt(19)'", [result("'19'")], DIFFERS),
    "a figure that was shown by its class": (
        SHOW + "display({'text/plain': '<Figure size 640x480 with 1 Axes>'}, raw=True)",
        [shown("<matplotlib.figure.Figure at 0x7fae12345670>")],
        SAME,
    ),
    "an object of another class": (
        SHOW + "display({'text/plain': '<Axes: >'}, raw=True)",
        [shown("<matplotlib.figure.Figure at 0x7fae12345670>")],
        DIFFERS,
    ),
    "the text of a picture": (
        IMAGE(picture()),
        [shown("<Figure of another version>", image_png=picture())],
        SAME,
    ),
    "what is left of zero": ("5e-9", [result("-3e-9")], ROUNDING),
    "a name of digits": ("print('run 007')", [printed("run 008\n")], DIFFERS),
    "less than was shown": ("1;", [result("1")], DIFFERS),
    "the same error": ("1 / 0", [raised("ZeroDivisionError", "division by zero")], SAME),
    "another error": ("1 / 0", [raised("ZeroDivisionError", "by nought")], DIFFERS),
    "an error that is gone": ("1", [raised("ZeroDivisionError", "division by zero")], DIFFERS),
    "nothing": ("x = 1", [], SAME),
    "nothing, where something comes": ("x", [], DIFFERS),
    "entropy": ("import uuid\nprint(uuid.uuid4())", [printed("7c9e6679-7425\n")], DIFFERS),
    "the order of a set": (
        "set('abcdefgh')\n''.join({*map(str, range(99))})",
        [result("'1'")],
        DIFFERS,
    ),
    "an extension that is there already": ("%load_ext ipytorchseed", [], SAME),
    "our own words": ("%rng --text", [printed("nothing of this")], SAME),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """The verdicts on several notebooks, by their names: checked together."""
    folder = tmp_path_factory.mktemp("saved")
    many = [(source, outputs) for source, outputs, _ in CELLS.values()]
    paths = [
        write(folder / "many", *many),
        write(folder / "true", ("1", [result("1")], 1), ("print(0.1 + 0.2)", [printed("0.3\n")])),
        write(
            folder / "order",
            ("x = 1", [], 1),
            ("x += 1", [], 4),
            ("x", [result("3")], 3),
            ("x = 7", [], None),
        ),
        write(folder / "unsaved", ("1", [], None), ("2", [], None)),
        write(folder / "cleared", ("1", [], 1), ("2", [], 2)),
        write(folder / "raises", ("1", [result("1")]), ("{}['a']", [result("2")]), ("3", [])),
        write(folder / "new", ("1", [result("1")]), ("{}['a']", [], None), ("3", [])),
        write(folder / "stripped", ("1", [result("1")], None), ("2", [], None)),
    ]
    kept = [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths]
    looked = {verdict.path.stem: verdict for verdict in look(*paths, saved=True)}
    assert kept == [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths]
    return looked


@pytest.mark.parametrize("case", CELLS)
def test_each_sort_of_output(verdicts, case):
    """The same, rounding, or different.

    The result of the cell is the same as that of its output.
    """
    cell = verdicts["many"].cells[[*CELLS].index(case)]
    assert cell.outputs.value == CELLS[case][2], cell.grades
    told = [each.detail for each in cell.grades]
    assert (told in ([], [SHOWN_OTHERWISE])) is (cell.outputs.value == SAME)


def test_another_spelling_of_the_same_value_is_told_so(verdicts):
    """Both are kept for other programs, and it counts as true."""
    grade = grade_of(verdicts, "a number whose type is named now")
    assert (grade.found, grade.detail) == (Found.SAME, SHOWN_OTHERWISE)
    assert (grade.saved, grade.fresh) == ("19", "np.int64(19)")
    assert "result: the same result, shown differently" in report.explanation(verdicts["many"])


def grade_of(verdicts, case):
    """Return the grade of the first output."""
    return verdicts["many"].cells[[*CELLS].index(case)].grades[0]


def test_what_the_file_says_and_what_came(verdicts):
    """The first differing lines; for numbers and pixels, how many differ."""
    grade = grade_of(verdicts, "another number")
    assert (grade.saved, grade.fresh) == ("0.31", "0.30000000000000004")
    assert grade.detail == "0.31 → 0.3"
    assert grade_of(verdicts, "the last digits").detail == "rounding, at most 4e-8 of the value"
    grade = grade_of(verdicts, "another line in a figure")
    assert grade.detail == "image/png: 120 of 2,400 pixels differ"
    grade = grade_of(verdicts, "a figure of another size")
    assert grade.detail == "image/png: 60 x 40 → 30 x 40 pixels"
    assert (
        grade_of(verdicts, "a figure that is gone").detail == "image/png, text/plain → text/plain"
    )
    grade = grade_of(verdicts, "a table with another number")
    assert (grade.saved, grade.fresh) == ("0.4", "0.3")


def test_what_answers_differently_each_time_is_named(verdicts):
    """A cell that reads entropy cannot show the same again."""
    cell = verdicts["many"].cells[[*CELLS].index("entropy")]
    assert [cause.name for cause in cell.causes] == ["uuid.uuid4"]
    assert "uuid.uuid4" in report.explanation(verdicts["many"])


def test_all_that_is_saved_is_still_true(verdicts):
    """Rounding is reported, and counts as true; the exit code is 0."""
    verdict = verdicts["true"]
    assert [cell.outputs.value for cell in verdict.cells] == [SAME, ROUNDING]
    assert (verdict.reproducible, verdict.exit_code) == (True, 0)
    assert report.headline(verdict) == "still true up to rounding"
    assert "stdout: rounding, at most 2e-16" in report.explanation(verdict)


def test_cells_that_were_run_out_of_order(verdicts):
    """The cell has both numbers, and the report mentions the order."""
    verdict = verdicts["order"]
    assert [cell.outputs.value for cell in verdict.cells] == [SAME, SAME, DIFFERS, UNKNOWN]
    said = report.explanation(verdict)
    assert "not every cell had run exactly once" in said
    assert "No run is saved in the file, but it ran here: In[4]." in said
    assert verdict.exit_code == 1


def test_a_cell_has_another_number_in_the_file(tmp_path):
    """Both numbers are reported."""
    path = write(tmp_path / "late", ("1", [], 5), ("2", [result("3")], 9))
    (verdict,) = look(path, saved=True)
    assert "In[2] (In[9] in the file)  2\n" in report.explanation(verdict)


@pytest.mark.parametrize("name", ["unsaved", "cleared"])
def test_a_file_without_outputs(verdicts, name):
    """No kernel is started, and the report says so; the file may have numbers."""
    verdict = verdicts[name]
    assert (len(verdict.cells), verdict.seconds, verdict.exit_code) == (0, 0.0, 0)
    assert "no outputs are saved" in report.explanation(verdict)
    assert report.headline(verdict) == "nothing saved"
    (told,) = json.loads(report.as_json([verdict]))["notebooks"]
    assert told["reproducible"] is None
    assert told["note"] == "no outputs are saved in it: nothing to compare"
    assert 'failures="0" errors="0"' in as_junit([verdict])


def test_a_file_whose_numbers_were_stripped(verdicts):
    """The outputs that exist are compared."""
    verdict = verdicts["stripped"]
    assert [cell.outputs.value for cell in verdict.cells] == [SAME, UNKNOWN]


def test_a_cell_that_raises_now(verdicts):
    """Its saved output is no longer true.

    Later cells are reported as not reached.
    """
    verdict = verdicts["raises"]
    assert [cell.outputs.value for cell in verdict.cells] == [SAME, DIFFERS]
    assert verdict.exit_code == 1
    said = report.explanation(verdict)
    assert "1 of 3 cells was not reached: In[2] raises KeyError: 'a'" in said
    assert "error: no error → KeyError: 'a'" in said
    assert report.headline(verdict) == "differs, not checked to the end"


def test_a_cell_that_raises_and_was_never_run(verdicts):
    """The notebook is not checked to the end: no saved output contradicts the error."""
    verdict = verdicts["new"]
    assert verdict.exit_code == 2
    assert "In[2] raises KeyError: 'a'" in verdict.fault
    assert verdict.saved


@pytest.mark.parametrize(("rtol", "code"), [(None, 0), (1e-6, 0), (1e-9, 1), (0.5, 0)])
def test_rtol_is_the_limit(tmp_path, rtol, code):
    """Numbers within it are the same; beyond it they differ.

    Without it, rounding counts as true.
    """
    path = write(tmp_path / "near", ("print(1.0000003)", [printed("1.0\n")]))
    (verdict,) = look(path, saved=True, rtol=rtol)
    wanted = {None: ROUNDING, 1e-9: DIFFERS}.get(rtol, SAME)
    assert verdict.cells[0].outputs.value == wanted
    assert verdict.exit_code == code


def test_seed_timeout_and_parameters_are_those_of_every_check(tmp_path):
    """``--seed`` before the first cell; a timeout is a fault."""
    draw = "import random\nrandom.seed\nprint(random.random())"
    path = write(tmp_path / "draws", (draw, [printed("0.6394267984578837\n")]))
    (verdict,) = look(path, saved=True, seed=42)
    assert verdict.exit_code == 0, report.explanation(verdict)
    path = write(tmp_path / "slow", ("import time\ntime.sleep(99)", [printed("woken\n")]))
    (verdict,) = look(path, saved=True, timeout=1)
    assert verdict.exit_code == 2
    assert "took longer than 1 s" in verdict.fault


def test_json(verdicts):
    """The shape of every check, with the saved and the fresh output."""
    true, order = json.loads(report.as_json([verdicts["true"], verdicts["order"]]))["notebooks"]
    assert (true["reproducible"], true["first_divergence"]) == (True, None)
    assert [cell["outputs"] for cell in true["cells"]] == ["same", "rounding"]
    assert (order["first_divergence"]["index"], order["first_divergence"]["id"]) == (2, "cell-2")
    assert [cell["outputs"] for cell in order["cells"]] == ["same", "same", "different", "unknown"]
    (change,) = order["cells"][2]["changes"]
    assert (change["saved"], change["now"], change["outputs"]) == ("3", "2", "different")


@pytest.mark.parametrize(
    ("saved", "fresh", "said"),
    [("tensor([[ 0.3171]])", "tensor([[0.3171]])", SHOWN_OTHERWISE),
     ("[1, 2,\n 3]", "[1, 2, 3]", SHOWN_OTHERWISE),
     ("no where", "nowhere", "only whitespace differs"),
     ("tensor([[ 0.3171]])", "tensor([[-0.3171]])", "0.3171 → -0.3171"),
     ("a b", "a c", "text with different content")],
)  # fmt: skip
def test_other_blanks_are_told_from_another_text(saved, fresh, said):
    """Versions of libraries print the same numbers with other blanks and lines."""
    assert grade_text("result", saved, fresh, None).detail == said


def test_html_as_it_is_read():
    """A table row is a line; scripts, styles and markup are not read."""
    html = (
        "<style>td {color: red}</style><p>Two <b>rows</b></p><table><tr><td>1<td>2</td></tr>"
        "<tr><th>a</th><td>&lt; 3</td></tr></table><script>x = '<p>4</p>'</script>"
    )
    assert read_html(html) == "Two rows\n1 2\na < 3"


@pytest.mark.timeout(60)
def test_a_long_line_of_blanks_is_compared_at_once():
    """The time is proportional to its length."""
    blanks = f"x{' ' * 300_000}."
    assert grade_text("stdout", blanks, f"{blanks} \t", None).found is Found.SAME


# Outputs that nbformat keeps though they are invalid.
HARDLY = [
    [{}], [{"output_type": "other"}], [{"output_type": "stream", "text": "a"}], [{"output_type": "error"}],
    [{"output_type": "stream", "name": "stderr"}], [{"output_type": "error", "ename": None, "evalue": ["a", "b"]}],
    [{"output_type": "display_data"}], [{"output_type": "execute_result", "data": {}}], {},
    [{"output_type": "display_data", "data": {"text/plain": 3, "image/png": 4, "text/html": {"a": 1}}}],
]  # fmt: skip

REFUSED = [
    3,
    None,
    "x",
    [3],
    [None],
    [[]],
    [{"output_type": []}],
    [{"output_type": "execute_result", "data": []}],
]


def with_outputs(path, outputs):
    """Write a notebook of one cell with these outputs."""
    path = write(path, ("1", []))
    whole = json.loads(path.read_text())
    whole["cells"][0]["outputs"] = outputs
    path.write_text(json.dumps(whole))
    return path


@pytest.mark.parametrize("outputs", HARDLY, ids=str)
def test_an_output_that_lacks_fields_is_compared_by_those_it_has(tmp_path, outputs):
    """Front ends show it the same way."""
    book = read(with_outputs(tmp_path / "book", outputs))
    assert "ValueError" not in book.shown_errors(book.cells[0])
    mine = book.node.cells[0].outputs
    for fresh in (mine, [printed("a")], [result("1")], [raised("E", "no")]):
        verdict = compare_saved(book, Pass(tmp_path / "none", {0: fresh}), None)
        assert report.text([verdict])
        assert fresh is not mine or verdict.reproducible
    assert compare_outputs(mine, mine) == ()


@pytest.mark.parametrize("outputs", REFUSED, ids=str)
def test_outputs_that_nbformat_refuses_are_told_in_one_line(tmp_path, outputs):
    """They are reported before anything runs."""
    with pytest.raises(UncheckableError) as caught:
        read(with_outputs(tmp_path / "book", outputs))
    assert str(caught.value).isprintable()
