"""What counts as the same output: the content, not its wrapping."""

from __future__ import annotations

import base64
import io

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from ipytorchseed.reads.own_lines import MARK
from tests.checking.books import compare_outputs


def stream(text, name="stdout"):
    """Return printed text."""
    return {"output_type": "stream", "name": name, "text": text}


def shown(kind="display_data", **bundle):
    """Return a display; ``text_html`` is of that MIME type."""
    data = {key.replace("_", "/"): value for key, value in bundle.items()}
    return {"output_type": kind, "data": data, "metadata": {}}


def result(data, count=1):
    """Return what the last expression showed."""
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": count}


def raised(name, value, line=1):
    """Return an error."""
    traceback = [f"Cell In[{line}], line 1"]
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": traceback}


def picture(colour, kind="png", size=(4, 4), note=""):
    """Encode an image of one colour, with a note that no one sees."""
    out, extra = io.BytesIO(), {}
    if kind == "png":
        extra["pnginfo"] = PngInfo()
        extra["pnginfo"].add_text("Software", note)
        extra["compress_level"] = len(note) % 9
    Image.new("RGB", size, colour).save(out, kind, **extra)
    return base64.b64encode(out.getvalue()).decode()


STYLED = '<style>#T_{0} td {{color: red}} #T_{0}_row0 {{}}</style><table id="T_{0}"><tr id="T_{0}_row0">1</table>'
PLOTLY = "<div id='{0}'></div><script>draw(document.getElementById('{0}'), [1, 2])</script>"
BOKEH = 'embed({{"{0}": {{"version": "3.9"}}}}, [{{"docid": "{0}", "roots": {{"p1": "{1}"}}, "y": [1, 2]}}])'
IDS = (
    ("0f8fad5b-d9cb-469f-a165-70867728950e", "2c5ea4c0-4067-41e9-8bad-9b1deb4d3b7d"),
    ("7c9e6679-7425-40de-944b-e07fc1f90ae7", "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"),
)
SVG = "<svg><dc:date>{1}</dc:date><path id='m{0}'/><use href='#m{0}'/></svg>"
BAR = "\r 50%|#####     | 5/10 [00:0{0}<00:01, {0}.1it/s]\r100%|##########| 10/10 [00:0{0}<00:00, {0}.7it/s]\n"

SAME = {
    "printed text": ([stream("1\n2\n")], [stream("1\n2\n")]),
    "text cut into other pieces": ([stream("1\n"), stream("2\n")], [stream("1\n2\n")]),
    "streams that arrive in another order": (
        [stream("out\n"), stream("log\n", "stderr")],
        [stream("log\n", "stderr"), stream("out\n")],
    ),
    "colours and links": (
        [result({"text/plain": "\x1b[31ma\x1b[0m \x1b]8;id=1;file:///b\x1b\\b\x1b]8;;\x1b\\"})],
        [result({"text/plain": "a \x1b]8;id=2;file:///b\x1b\\b\x1b]8;;\x1b\\"})],
    ),
    "an address": (
        [result({"text/plain": "<object at 0x7f1111111111>"})],
        [result({"text/plain": "<object at 0x7f2222222222>"})],
    ),
    "an execution count": ([result({"text/plain": "3"}, 1)], [result({"text/plain": "3"}, 9)]),
    "a traceback's counts": ([raised("ValueError", "no", 1)], [raised("ValueError", "no", 5)]),
    "the timings of %time": (
        [stream("CPU times: user 1.2 ms\nWall time: 1.3 ms\n")],
        [stream("CPU times: user 2.2 ms\nWall time: 4.3 ms\n")],
    ),
    "tqdm's bar": ([stream(BAR.format(1), "stderr")], [stream(BAR.format(2), "stderr")]),
    "tqdm's bars above each other": (
        [stream("a: 10%|# | 1/10 [00:01<00:01]\x1b[A\nb: 20%|# | 1/5 [00:00<?]\x1b[A", "stderr")],
        [stream("a: 30%|# | 3/10 [00:01<00:01]\x1b[A", "stderr")],
    ),
    "the time of a log line": (
        [stream("2026-01-31 10:00:00,123 INFO loss 1.5\n", "stderr")],
        [stream("2026-01-31 10:07:00,456 INFO loss 1.5\n", "stderr")],
    ),
    "the file that a warning names": (
        [stream("/var/ipykernel_123/99.py:1: UserWarning: so\n", "stderr")],
        [stream("/var/ipykernel_456/99.py:1: UserWarning: so\n", "stderr")],
    ),
    "a widget's model": (
        [
            shown(
                **{
                    "text/plain": "IntSlider(value=3)",
                    "application/vnd.jupyter.widget-view+json": {"model_id": "a"},
                }
            )
        ],
        [
            shown(
                **{
                    "text/plain": "IntSlider(value=3)",
                    "application/vnd.jupyter.widget-view+json": {"model_id": "b"},
                }
            )
        ],
    ),
    "the ids of a styled table": (
        [shown(text_html=STYLED.format("1a2b3"))],
        [shown(text_html=STYLED.format("9f8e7"))],
    ),
    "the id of a plot": (
        [shown(text_html=PLOTLY.format("0f-1e"))],
        [shown(text_html=PLOTLY.format("2d-3c"))],
    ),
    "the ids of documents in a script": (
        [shown(**{"application/javascript": BOKEH.format(*IDS[0])})],
        [shown(**{"application/javascript": BOKEH.format(*IDS[1])})],
    ),
    "the ids of documents in a page's script": (
        [shown(text_html=f"<script>{BOKEH.format(*IDS[0])}</script>")],
        [shown(text_html=f"<script>{BOKEH.format(*IDS[1])}</script>")],
    ),
    "ids and date of an SVG": (
        [shown(**{"image/svg+xml": SVG.format("12ab", "2026-01-01")})],
        [shown(**{"image/svg+xml": SVG.format("34cd", "2026-01-02")})],
    ),
    "pixels, in another file": (
        [shown(image_png=picture("red", note="a"))],
        [shown(image_png=picture("red", note="made by another version"))],
    ),
    "JSON, its keys in another order": (
        [shown(**{"application/json": {"a": 1, "b": [2]}})],
        [shown(**{"application/json": {"b": [2], "a": 1}})],
    ),
    "text as lines": ([stream(["a\n", "b"])], [stream("a\nb")]),
    "nothing": ([], []),
}

DIFFERENT = {
    "printed text": ([stream("loss 1.5\n")], [stream("loss 1.25\n")], "stdout"),
    "standard error": ([stream("a", "stderr")], [stream("b", "stderr")], "stderr"),
    "a result": ([result({"text/plain": "3"})], [result({"text/plain": "4"})], "result"),
    "an id that somebody printed": (
        [stream("0f8fad5b-d9cb-469f-a165-70867728950e")],
        [stream("7c9e6679-7425-40de-944b-e07fc1f90ae7")],
        "stdout",
    ),
    "HTML": ([shown(text_html="<b>1</b>")], [shown(text_html="<b>2</b>")], "display"),
    "HTML within equal ids": (
        [shown(text_html=STYLED.format("1a2b3"))],
        [shown(text_html=STYLED.format("9f8e7").replace("red", "blue"))],
        "display",
    ),
    "what a script draws": (
        [shown(**{"application/javascript": BOKEH.format(*IDS[0])})],
        [shown(**{"application/javascript": BOKEH.format(*IDS[0]).replace("2]", "3]")})],
        "display",
    ),
    "which ids of a script are the same one": (
        [shown(**{"application/javascript": BOKEH.format(*IDS[0])})],
        [shown(**{"application/javascript": BOKEH.format(IDS[1][0], IDS[1][0])})],
        "display",
    ),
    "an id in a table": (
        [shown(text_html=f"<td>{IDS[0][0]}</td>")],
        [shown(text_html=f"<td>{IDS[1][0]}</td>")],
        "display",
    ),
    "a pixel": ([shown(image_png=picture("red"))], [shown(image_png=picture("blue"))], "display"),
    "a JPEG": (
        [shown(image_jpeg=picture("red", "jpeg"))],
        [shown(image_jpeg=picture("blue", "jpeg"))],
        "display",
    ),
    "an image's size": (
        [shown(image_png=picture("red"))],
        [shown(image_png=picture("red", size=(4, 5)))],
        "display",
    ),
    "an image that nobody can decode": (
        [shown(image_png="AAAA")],
        [shown(image_png="BBBB")],
        "display",
    ),
    "LaTeX": ([shown(text_latex="$x$")], [shown(text_latex="$y$")], "display"),
    "JSON": (
        [shown(**{"application/json": {"a": 1}})],
        [shown(**{"application/json": {"a": 2}})],
        "display",
    ),
    "a widget's value": (
        [shown(**{"text/plain": "IntSlider(value=3)"})],
        [shown(**{"text/plain": "IntSlider(value=4)"})],
        "display",
    ),
    "how many are shown": ([shown(text_plain="a")], [], "display"),
    "what kinds are shown": ([shown(text_plain="a")], [shown(text_html="a")], "display"),
    "an error": ([raised("ValueError", "a")], [raised("ValueError", "b")], "error"),
    "whether there is an error": ([], [raised("ValueError", "b")], "error"),
    "what a bar ends with": (
        [stream(BAR.format(1).replace("it/s]\n", "it/s, loss=0.3]\n"), "stderr")],
        [stream(BAR.format(1).replace("it/s]\n", "it/s, loss=0.4]\n"), "stderr")],
        "stderr",
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_no_difference(case):
    """Changes in every run that are not results."""
    before, after = SAME[case]
    assert compare_outputs(before, after) == ()
    assert compare_outputs(after, before) == ()


@pytest.mark.parametrize("case", DIFFERENT)
def test_a_difference(case):
    """It is named by the kind of output, with a short detail."""
    before, after, what = DIFFERENT[case]
    for pair in ((before, after), (after, before)):
        changes = compare_outputs(*pair)
        assert [change.what for change in changes] == [what]
        assert changes[0].detail


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_times_are_no_difference_where_the_cell_reads_a_clock(name):
    """Only numbers that are labelled as times are ignored."""
    before, after, other = (
        [stream(f"loss {loss} in {took} s", name)] for loss, took in ((0.5, 3), (0.5, 4), (0.6, 3))
    )
    assert compare_outputs(before, after, timed=True) == ()
    assert [each.what for each in compare_outputs(before, other, timed=True)] == [name]
    assert [each.what for each in compare_outputs(before, after)] == [name]


def test_differing_pixels_are_counted():
    """The detail says how many pixels of an image changed."""
    before, after = (shown(image_png=picture(colour)) for colour in ("red", "blue"))
    assert compare_outputs([before], [after])[0].detail == "image/png: 16 of 16 pixels differ"


def test_differing_numbers_are_told():
    """The detail shows the first printed number that differs."""
    changes = compare_outputs([stream("loss 1.5")], [stream("loss 1.25")])
    assert changes[0].detail == "1.5 → 1.25"


def test_what_we_display_below_a_cell_is_no_output_of_it():
    """The line of ``%why on`` is ignored, by its metadata.

    It may be missing, or have any number.
    """
    ours = {**shown(text_plain="y 1 → 2 · In[4] · %why 5"), "metadata": {MARK: {"what": "why"}}}
    cell = [stream("y\n"), result({"text/plain": "2"})]
    assert compare_outputs([*cell, ours], cell) == compare_outputs(cell, [*cell, ours]) == ()
    theirs = {**ours, "metadata": {}}
    assert [each.what for each in compare_outputs(cell, [*cell, theirs])] == ["display"]
