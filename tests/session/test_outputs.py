"""What a cell showed: equal if it means the same, different otherwise."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from ipytorchseed.fingerprint import same
from ipytorchseed.ledger.records import Outputs
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.session.noise import without_noise
from ipytorchseed.session.outputs import (
    MOST_TEXT,
    OutputWatch,
    bundle_value,
    outputs_of,
    text_value,
)
from ipytorchseed.why.changes import displays_differ, say_same

NOISE = {
    "address": ("<Net at 0x7f3a2c>", "<Net at 0x55aa00ff>"),
    "address of a method": (
        "<bound f of <A object at 0x7f00>>",
        "<bound f of <A object at 0x12345>>",
    ),
    "identity": ("<Thing id=140234866>", "<Thing id=139999999>"),
    "tqdm": (
        "57%|####| 57/100 [00:05<00:04, 10.6it/s, loss=0.3]",
        "57%|####| 57/100 [00:07<00:05,  8.1it/s, loss=0.3]",
    ),
    "a shorter line of tqdm": (
        "\r 9/9 [00:05<00:00, 10.61it/s]\r9/9 [00:05<00:00, 9.1it/s] \ndone  well",
        "\r 9/9 [00:07<00:00, 9.12it/s]\r9/9 [00:07<00:00, 10.33it/s]\ndone  well",
    ),
    "what follows a bar": ("9/9 [00:05<00:00, 10it/s]   ok", "9/9 [00:05<00:00, 9it/s] ok"),
    "a line that was wiped": ("\r9/9\r          \r", "\r9/9\r       \r"),
    "a column of addresses": ("<A at 0x7f00>    |  1", "<A at 0x7f0000>  |  1"),
    "slow tqdm": ("3/9 [01:05<02:04, 20.61s/it]", "3/9 [01:09<02:10, 22.00s/it]"),
    "long tqdm": ("3/9 [1:01:05<2:02:04, 20.61s/it]", "3/9 [1:01:09<2:02:10, 22.00s/it]"),
    "tqdm of bytes": ("8.1M [00:05<00:04, 1.6MB/s]", "8.1M [00:06<00:03, 1.4MB/s]"),
    "tqdm without a total": ("57it [00:05, 10.6it/s]", "57it [00:04, 12.2it/s]"),
    "tqdm not yet known": ("0/9 [00:00<?, ?it/s]", "0/9 [00:01<?, ?it/s]"),
    "%time": (
        "CPU times: user 2 ms, sys: 1 ms, total: 3 ms\nWall time: 3.1 ms\n",
        "CPU times: user 3 ms, sys: 0 ns, total: 3 ms\nWall time: 2.9 ms\n",
    ),
    "%timeit": (
        "8.91 ns ± 0.08 ns per loop (mean ± std. dev. of 7 runs, 100,000,000 loops each)",
        "9.2 µs ± 11 ns per loop (mean ± std. dev. of 7 runs, 100,000 loops each)",
    ),
    "%timeit, now and then": (
        "The slowest run took 4.46 times longer than the fastest. This could mean that an"
        " intermediate result is being cached.\n2.69 ms ± 3 ms per loop (mean ± std. dev. of 7 runs,"
        " 100 loops each)\nCompiler time: 0.12 s\n",
        "2.7 ms ± 3 µs per loop (mean ± std. dev. of 7 runs, 100 loops each)\n",
    ),
    "%time, now and then": (
        "CPU times: user 3 ms, sys: 0 ns, total: 3 ms\nWall time: 2.9 ms\nCompiler : 115 ms\n"
        "Parser   : 101 ms\n",
        "CPU times: user 3 ms, sys: 0 ns, total: 3 ms\nWall time: 2.9 ms\n",
    ),
    "%timeit of minutes": (
        "1min 3s ± 2.1 s per loop (mean ± std. dev. of 7 runs, 1 loop each)",
        "58.1 s ± 1.1 s per loop (mean ± std. dev. of 7 runs, 1 loop each)",
    ),
    "overwritten": ("epoch 1\repoch 2\rdone\n", "epoch 1\rdone\n"),
    "a display's handle": (
        "<DisplayHandle display_id=3136f11dc9c52aec946c8a9ac191772d>",
        "<DisplayHandle display_id=d3c0a84b689b776466fb1ea725eabb6c>",
    ),
    "an extension that is there": (
        "",
        "The autoreload extension is already loaded. To reload it, use:\n"
        "  %reload_ext autoreload\n",
    ),
}


@pytest.mark.parametrize(("one", "two"), NOISE.values(), ids=NOISE)
def test_what_changes_in_every_run_does_not_count(one, two):
    """These are addresses, ids, times of progress bars and magics, overwritten lines."""
    assert without_noise(one) == without_noise(two)
    assert text_value(one).digest == text_value(two).digest


TIMES = {
    "seconds": ("loss 0.5 in 3.2s", "loss 0.5 in 41s"),
    "with a space": ("epoch 3: 3.21 s", "epoch 3: 2.9e-05 s"),
    "in words": ("3 seconds, 2 min", "12 seconds, 1 min"),
    "minutes and seconds": ("0m 3s, 1h 2m 3.5s", "12m 41s, 2h 0m 1.0s"),
    "a rate": ("800.2 img/s, 3 steps/sec", "791 img/s, 2.9 steps/sec"),
    "named before": ("Training time: 3.21 | loss 0.5", "Training time: 12 | loss 0.5"),
    "named with more words": ("time on cpu = 3.2", "time on cpu = 3.4"),
    "in brackets": ("Elapsed (wall): 0:00:03.21", "Elapsed (wall): 0:01:41.9"),
    "took": ("it took 3.2", "it took 3.9"),
    "a moment": ("[2026-11-22 10:49:54.1] loss 0.5", "[2026-11-22 10:50:01.2] loss 0.5"),
    "a moment in words": ("Sun Nov 22 10:49:54 2026", "Mon Nov 23 00:00:01 2026"),
    "a time of day": ("10:49:54 loss 0.5", "9:50:01 loss 0.5"),
    "a list": ("{'loss': [0.5], 'secs': [0.4, 0.5]}", "{'loss': [0.5], 'secs': [0.41, 0.3]}"),
}


@pytest.mark.parametrize(("one", "two"), TIMES.values(), ids=TIMES)
def test_times_do_not_count_where_the_cell_reads_a_clock(one, two):
    """If the cell reads no clock, they are results and count."""
    assert text_value(one, timed=True).digest == text_value(two, timed=True).digest
    assert text_value(one).digest != text_value(two).digest
    outputs = OutputWatch(timed=True)
    outputs.printed(f"{one}\n")
    assert outputs.stdout() == text_value(f"{one}\n", timed=True)


@pytest.mark.parametrize(("one", "two"), TIMES.values(), ids=TIMES)
def test_that_times_differ_is_known(one, two):
    """They are not content, so a report can say that everything else is the same."""
    before, after, again = (
        Outputs(stdout=text_value(text, timed=True)) for text in (one, two, one)
    )
    assert say_same(before, after, "In[3]") == "same result as In[3], except for the time it shows"
    assert say_same(before, again, "In[3]") == "same result, bit for bit, as In[3]"
    other = Outputs(stdout=text_value("loss 0.5", timed=True))
    assert say_same(other, other, "In[3]") == "same result, bit for bit, as In[3]"


@pytest.mark.parametrize("name", ["%time", "%timeit of minutes"])
def test_the_times_of_magics_are_times(name):
    """The report does not call outputs with other times equal bit for bit."""
    before, after = (Outputs(stdout=text_value(text)) for text in NOISE[name])
    assert say_same(before, after, "In[3]") == "same result as In[3], except for the time it shows"
    assert say_same(after, after, "In[3]") == "same result, bit for bit, as In[3]"


def test_blanks_count_where_nothing_was_masked():
    """This includes the line after one with a mask."""
    assert without_noise("<A at 0x7f00>\na  b ") == "<A at>\na  b "


def test_digits_that_are_a_name_are_no_numbers():
    """They begin with a zero, or are too many for a float."""
    assert text_value(f"run 007 of {2**70}, {10**15}: 0.5").series == (0.5,)


BESIDE_TIMES = {
    "a loss": ("loss 0.5, 3.2 s", "loss 0.6, 3.2 s"),
    "a loss after the word": ("time to train, loss: 0.5", "time to train, loss: 0.6"),
    "a loss soon after the word": ("at this time loss 0.5", "at this time loss 0.6"),
    "an accuracy": ("took 3 s: acc 0.91", "took 3 s: acc 0.92"),
    "a count": ("5 steps", "6 steps"),
    "a date": ("2026-01-01", "2026-01-02"),
    "a loss in a list": ("'time': [1], 'loss': [0.5]", "'time': [1], 'loss': [0.6]"),
    "a name with a number": ("time_step 3, runtime_v2", "time_step 4, runtime_v2"),
    "a number with letters": ("resnet50s x10s", "resnet51s x10s"),
    "metres": ("3 metres, 3 m", "4 metres, 3 m"),
    "millions": ("5m parameters", "6m parameters"),
}


@pytest.mark.parametrize(("one", "two"), BESIDE_TIMES.values(), ids=BESIDE_TIMES)
def test_what_is_no_time_counts_beside_a_clock(one, two):
    """Only numbers labelled as times are removed."""
    assert text_value(one, timed=True).digest != text_value(two, timed=True).digest


MEANT = {
    "number": ("loss 0.3", "loss 0.4"),
    "progress": ("57/100 [00:05<00:04, 1.6it/s]", "58/100 [00:05<00:04, 1.6it/s]"),
    "postfix": ("9/9 [00:05<00:00, 1.6it/s, loss=0.3]", "9/9 [00:05<00:00, 1.6it/s, loss=0.4]"),
    "a moment": ("2020-01-01 00:00:00 INFOS 0.5", "2020-01-02 00:00:00 INFOS 0.5"),
    "a time of the user's": ("took 5 s", "took 6 s"),
    "a time of a library's": (
        "[CV] END score=0.9 total time= 1s",
        "[CV] END score=0.9 total time= 2s",
    ),
    "a list": ("[00:05]", "[00:06]"),
    "hexadecimal": ("0xff", "0xfe"),
    "blank": ("a b", "a  b"),
    "lines": ("a\nb", "a b"),
    "case": ("Done", "done"),
}


@pytest.mark.parametrize(("one", "two"), MEANT.values(), ids=MEANT)
def test_what_is_meant_counts(one, two):
    """Everything else counts."""
    assert text_value(one).digest != text_value(two).digest


def test_the_numbers_of_a_text_are_kept_for_plots():
    """There is a limit.

    Signs, exponents and fractions are parsed; identifiers are not numbers.
    """
    assert text_value("a1 = -2.5e3, .5 and 7; v1.2.3 x10\n").series == (-2500.0, 0.5, 7.0)
    assert text_value("none").series is None
    assert text_value("1 " * 9000).series is None
    assert text_value("1\n2\n").summary == "2 lines"


def test_any_text_has_a_value():
    """It may be empty, very long, half a surrogate pair, or control characters."""
    for text in ("", "\r", "\r\r\n\r", "\ud800", "\x00\x1b[31m", "🎲" * 3, "[" * 9999):
        assert len(text_value(text).digest) == 16


@pytest.mark.parametrize(
    "part",
    [
        "9",
        "1 ",
        "time ",
        "1:",
        "1m ",
        "1e",
        "a/s 1",
        "took 1.",
        "secs: [1",
    ],
)
def test_long_texts_are_quick(part):
    """They have half a million characters that look like times."""
    assert text_value(part * (500_000 // len(part)), timed=True).digest


def shown(*texts, timed=False):
    """Return the record of texts that were printed one after the other."""
    outputs = OutputWatch(timed=timed)
    for text in texts:
        outputs.printed(text)
    return outputs.stdout()


LINE = "step 12: loss 0.53\n"
LONG = LINE * (2 * MOST_TEXT // len(LINE))


def test_much_text_is_digested_as_it_passes():
    """It is not kept: ten times as much needs no more memory."""

    def peak(times):
        outputs = OutputWatch()
        piece = "x" * (8 * MOST_TEXT)
        tracemalloc.start()
        for _ in range(times):
            outputs.printed(piece)
        assert outputs.stdout().summary == f"{times * len(piece):,} characters"
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few = peak(2)
    assert few < 3 * 8 * MOST_TEXT
    assert peak(20) < 1.2 * few
    assert OutputWatch().stdout() is None


@given(st.lists(st.integers(0, len(LONG)), max_size=9))
def test_how_a_long_text_was_cut_into_pieces_does_not_count(cuts):
    """Equal text has an equal record, whatever the size of each write."""
    places = [0, *sorted(cuts), len(LONG)]
    pieces = [LONG[begin:end] for begin, end in pairwise(places)]
    assert shown(*pieces) == shown(LONG)


def compared(one, two):
    """Return whether two printed texts differ; None if unknown."""
    values = shown(one), shown(two)
    if None in values:
        return values[0] is not values[1]
    known = same(*values)
    return known if known is None else not known


def test_of_long_texts_only_what_is_known_is_said():
    """Equal texts are equal, and different beginnings differ.

    A different rest is unknown, as it may consist of times and addresses.
    """
    noise = "<Net at 0x7f3a2c>\n", "<Net at 0x55aa00>\n"
    known = {
        True: [
            (LONG, "loss 0.54\n" + LONG),
            (LONG, LONG[: MOST_TEXT // 4] + "!" + LONG[MOST_TEXT // 4 :]),
            (LINE, LONG),
            ("", LONG),
        ],
        False: [(LONG, LONG), (noise[0] + LONG, noise[1] + LONG)],
        None: [(LONG, f"{LONG}!"), (LONG + noise[0], LONG + noise[1]), (LONG, LONG[:-40])],
    }
    for differs, pairs in known.items():
        for one, two in pairs:
            assert compared(one, two) is differs, (one[-60:], two[-60:])
            assert compared(two, one) is differs


@given(st.integers(0, 3 * MOST_TEXT), st.integers(0, 3 * MOST_TEXT))
def test_a_change_in_a_long_text_is_never_denied(size, place):
    """Wherever it is, the texts differ or the answer is unknown."""
    text = (LINE * (3 * MOST_TEXT // len(LINE) + 1))[:size]
    place = min(place, size)
    assert compared(text, text[:place] + "?" + text[place:]) is not False


def test_a_long_text_at_the_limit_is_compared_as_far_as_both_go():
    """Addresses of different lengths put one of two equal texts beyond the limit."""
    short, long = ("<A at 0x7f00>\n" * 9, "<A at 0x7f0000000000>\n" * 9)
    fill = "y" * (MOST_TEXT - len(short) - 1)
    assert shown(short + fill).exact
    assert not shown(long + fill).exact
    assert compared(short + fill, long + fill) is None
    assert compared(short + fill, long + "!" + fill) is True


def test_lines_drawn_over_and_over_take_no_room():
    """A progress bar that is drawn thousands of times is one line.

    The text after it is compared completely.
    """
    bars = [f"\r{number}/20000 [{'=' * (number // 400)}] {number}ms" for number in range(20_000)]
    assert sum(map(len, bars)) > 4 * MOST_TEXT
    one = shown(*bars, "\ndone\n")
    assert (one.opaque, one.summary) == (False, "2 lines")
    assert one == shown(bars[-1], "\ndone\n")
    assert shown(*bars, "\nDone\n").digest != one.digest
    for end in ("\r", "\nend\r", "\rend"):
        assert shown(*(f"{bar}\r" for bar in bars), end).digest == shown(f"{bars[-1]}{end}").digest


def test_any_letter_of_a_long_text_is_digested():
    """This includes unpaired surrogates, which cannot be encoded."""
    assert shown(LONG, "\ud800").digest != shown(LONG, "\ud801").digest
    assert len(shown("🎲" * MOST_TEXT, "\udfff\ud800").digest) == 16


def test_displays_count_by_what_they_show():
    """Widgets count only as present, text without addresses, and images bit by bit."""
    shown = [
        {"text/plain": "<Figure at 0x7f00>", "image/png": "iVBOR"},
        {"text/plain": "<Figure at 0x12345>", "image/png": "iVBOR"},
        {"text/plain": "<Figure at 0x7f00>", "image/png": "iVBOQ"},
        {"text/plain": "W()", "application/vnd.jupyter.widget-view+json": {"model_id": "a"}},
        {"text/plain": "W()", "application/vnd.jupyter.widget-view+json": {"model_id": "b"}},
        {"application/json": {"b": [1], "a": 2}},
        {"application/json": {"a": 2, "b": [1]}},
        {"image/png": b"\x89PNG"},
        {"image/png": b"\x89PNH"},
    ]
    digests = [bundle_value(each).digest for each in shown]
    assert digests[0] == digests[1] != digests[2]
    assert digests[3] == digests[4]
    assert digests[5] == digests[6]
    assert digests[7] != digests[8]


# Markup of pandas, xarray, scikit-learn and matplotlib's animations.
MARKUP = (
    '<style>#T_{0} th {{}}</style><table id="T_{0}"><td id="T_{0}_row0_col0">{1}</td></table>',
    "<input id='section-{0}' type='checkbox'><label for='section-{0}'>{1}</label>",
    '<style>#sk-container-id-{0} {{}}</style><div id="sk-container-id-{0}">{1}</div>',
    '<img id="_anim_img{0}"><button onclick="anim{0}.stop()"></button>{1}',
)


@pytest.mark.parametrize("markup", MARKUP)
def test_the_names_of_elements_do_not_count(markup):
    """They are random, or counted in the process. The content of the elements counts."""
    one, other = "1f0e" * 8, "2ab4" * 8
    texts = markup.format(one, "7"), markup.format(other, "7"), markup.format(one, "8")
    for kind in ("text/html", "image/svg+xml"):
        digests = [bundle_value({kind: text}).digest for text in texts]
        assert digests[0] == digests[1] != digests[2]


def test_random_names_in_a_script_do_not_count():
    """Bokeh names each embedded document. Numbers and labels count."""
    script = 'embed({{"{0}": {{"x": ["p1000"]}}}}, {{"{0}": 3}}, {1})'
    one, other = "0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    texts = script.format(one, 7), script.format(other, 7), script.format(one, 8)
    first, same, *others = (
        bundle_value({"application/javascript": text}).digest
        for text in (*texts, texts[0].replace("p1000", "p1001"))
    )
    assert first == same
    assert len({first, *others}) == 3


def test_only_noise_is_nothing():
    """It is recorded as if nothing had been printed."""
    assert shown("Wall time: 3.1 ms") is None
    assert shown("\n") is not None


def test_a_display_calls_nothing_of_the_users():
    """It may have any content. What no front end can show is not a display."""

    class Hostile:
        def __repr__(self):
            raise AssertionError

        __len__ = __eq__ = __hash__ = __iter__ = __repr__

    endless: list[object] = []
    endless.append(endless)
    for bundle in ({"a": Hostile()}, {"a": endless}, {3: "x"}, {"a": {(1, 2): 3}}, Hostile(), None):
        assert len(bundle_value(bundle).digest) == 16


def displayed(*bundles):
    """Return the records of displays."""
    outputs = OutputWatch()
    for bundle in bundles:
        outputs.displayed(bundle)
    return outputs.displays


def test_many_displays_are_digested_as_they_pass():
    """Only so many are kept. The last one shows if another changed, or is missing."""
    many = [{"text/plain": str(number)} for number in range(3000)]
    kept = displayed(*many)
    assert len(kept) == 1000
    assert displays_differ(kept, displayed(*many)) is False
    assert displays_differ(kept, displayed(*many[:-1])) is True
    assert displays_differ(kept, displayed(*many[:-1], {"text/plain": "other"})) is True
    assert displays_differ(kept[:999], displayed(*many[:999])) is False


def test_a_display_without_end_is_compared_as_far_as_it_is_clean():
    """A text of many megabytes is the same or unknown.

    An image of any size is the same or not.
    """
    text, image = "<b>x</b>" * MOST_TEXT, "iVBOR" * MOST_TEXT
    assert displays_differ(displayed({"text/html": text}), displayed({"text/html": text})) is False
    other = displayed({"text/html": f"{text}!"})
    assert not displays_differ(displayed({"text/html": text}), other)
    assert same(*displayed({"text/html": text}), *other) is None
    for data in (image, image.encode()):
        changed = data[:-1] + data[:1]
        one, two = displayed({"image/png": data}), displayed({"image/png": changed})
        assert displays_differ(one, two) is True
        assert displays_differ(one, displayed({"image/png": data})) is False


def test_a_text_of_a_class_of_its_own_is_text():
    """Template engines return such HTML. No method of the class is called."""

    class Html(str):
        __slots__ = ()

        def __str__(self):
            raise AssertionError

        __len__ = __getitem__ = encode = __str__

    one, two = (displayed({"text/html": Html(f"<b {end}>")}) for end in ("0x7f3a2c", "0x55aa00ff"))
    assert one == two == displayed({"text/html": "<b 0x7f3a2c>"})


@pytest.mark.parametrize(("first", "second", "alike"), [("5", "5", None), ("5", "6", False)])
def test_what_is_printed_beside_something_unseen_is_compared(first, second, alike):
    """The output of a program in a terminal is unknown, but the cell's is known."""
    kept = []
    for text in (first, second):
        outputs = OutputWatch()
        outputs.printed(text)
        outputs.passed_by()
        kept.append(outputs.stdout())
    assert same(*kept) is alike


RESULTS = {"a number": "id({})", "several": "id({}), 1.5", "a list": "[id({}), id({})]"}


@pytest.mark.parametrize("cell", RESULTS.values(), ids=RESULTS)
def test_where_an_object_lies_is_no_content(notebook, cell):
    """The address differs every time, also if other code calls ``id``."""
    notebook.run("kept = [object() for _ in range(100)]")
    first, again = (notebook.run(cell.replace("{}", f"kept[{at}]")) for at in (3, 70))
    assert first.outputs.result == again.outputs.result


def test_a_number_beside_a_place_is_content(notebook):
    """So is a long number if the cell shows no addresses."""
    notebook.run("kept = []")
    for cell in ("id(kept), {}", "print(id); 10**11 + {}"):
        first, again = (notebook.run(cell.format(number)) for number in (1, 2))
        assert first.outputs.result.digest != again.outputs.result.digest


PRINTED = {
    "print(id(x))": ("139995142685312", "94372345678912", True),
    "id(x)": ("139995142685312", "94372345678912", True),
    "for x in y:\n    print(f'at {id(x)}')": ("at 139995142685312", "at 139995142685300", True),
    "%%time\nprint(id(x))": ("139995142685312", "139995142685300", True),
    "print(id(x), y)": ("139995142685312 1", "139995142685312 2", False),
    "print(id(x), y) ": ("139995142685312 1.5", "139995142685312.25 1.5", False),
    "print(valid(x))": ("139995142685312", "139995142685300", False),
    "print(x)\ny = id(x)": ("139995142685312", "139995142685300", True),
    "print(x.id(y))": ("139995142685312", "139995142685300", False),
}


@pytest.mark.parametrize(("cell", "texts"), list(PRINTED.items()))
def test_a_printed_place_is_no_content(cell, texts):
    """Everything else that is printed counts."""
    seen = []
    for text in texts[:2]:
        outputs = outputs_of(effects_of_cell(cell, TransformerManager().transform_cell), ())
        outputs.printed(text)
        outputs.resulted({"text/plain": text})
        seen.append((outputs.stdout(), outputs.shown))
    assert (seen[0] == seen[1]) is texts[2]
