"""Warn-only mode: operations pass, and are counted by name and line.

Nothing else is disturbed.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import ipytorchseed as its
from ipytorchseed.determinism.alerts import UNLISTED, Alert, find_advice
from ipytorchseed.determinism.scope import NondeterministicWarning
from tests.determinism.conftest import FIRST

ATTENTION = "Memory Efficient attention defaults to a non-deterministic algorithm. To explicitly..."


def _put():
    return torch.zeros(3).put_(torch.tensor([0]), torch.ones(1))


@contextlib.contextmanager
def _listening():
    """Give a block that warns, without the warning at its end."""
    block = its.deterministic(warn=True)
    block.begin()
    try:
        yield block
    finally:
        block.end()


def _told(block):
    return [(alert.operation, alert.line, alert.count) for alert in block.alerts]


# --------------------------------------------------------------------------------------------------
# Counting


COUNTED = """\
x, index, ones = values()
pooled, places = torch.nn.functional.max_pool1d(torch.ones(1, 1, 4), 2, return_indices=True)
with its.deterministic(warn=True) as block:
    for _ in range(3):
        x.put_(index, ones)
    torch.nn.functional.max_unpool1d(pooled, places, 2)
    x.put_(index, ones); x.put_(index, ones)
"""


@pytest.mark.parametrize("runs", [1, 2])
def test_alerts_are_counted_by_operation_and_line(script, runs):
    """In a second run in the same process the same is reported as in the first.

    Python shows a warning once for each place: what was shown in the first run would be lost.
    """
    run = script(COUNTED)
    for _ in range(runs):
        with pytest.warns(NondeterministicWarning):
            block = run()["block"]
        assert _told(block) == [
            ("put_", FIRST + 4, 3),
            ("max_unpooling2d_forward_out", FIRST + 5, 1),
            ("put_", FIRST + 6, 2),
        ]
    assert [alert.code for alert in block.alerts] == [
        "x.put_(index, ones)",
        "torch.nn.functional.max_unpool1d(pooled, places, 2)",
        "x.put_(index, ones); x.put_(index, ones)",
    ]


def test_the_block_ends_with_one_warning_that_lists_them(script):
    """It names each operation with line and count, and points at the user's file."""
    run = script(COUNTED)
    with pytest.warns(NondeterministicWarning) as caught:
        run()
    [warning] = caught
    assert str(warning.message) == (
        f"these operations may not repeat: put_ (line {FIRST + 4}, 3 times);"
        f" max_unpooling2d_forward_out (line {FIRST + 5}, once);"
        f" put_ (line {FIRST + 6}, 2 times)"
    )
    assert warning.filename.endswith("script.py")
    assert issubclass(NondeterministicWarning, UserWarning)


def test_the_operation_runs(script):
    """Nothing is refused: the result is there."""
    run = script("""\
        x, index, ones = values()
        with its.deterministic(warn=True):
            x.put_(index, ones)
    """)
    with pytest.warns(NondeterministicWarning):
        assert run()["x"].tolist() == [1, 0, 0]


def test_an_alert_in_a_helper_counts_for_the_callers_line(script):
    """Where the operation is in another file, the line is that which called it."""
    helper = script("def spread():\n    return torch.zeros(3).put(*values()[1:])\n", "helper.py")
    run = script("""\
        with its.deterministic(warn=True) as block:
            spread()
            spread()
    """)
    for _ in range(2):
        with pytest.warns(NondeterministicWarning):
            space = run(spread=helper()["spread"])
        assert _told(space["block"]) == [("put_", FIRST + 1, 1), ("put_", FIRST + 2, 1)]


def test_an_alert_in_a_backward_of_ones_own_counts_there(script):
    """The line is that of the operation in the user's ``backward``."""
    run = script("""\
        class Put(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                return torch.zeros_like(grad).put_(torch.tensor([0]), grad[:1])

        with its.deterministic(warn=True) as block:
            for _ in range(2):
                Put.apply(torch.ones(3, requires_grad=True)).sum().backward()
    """)
    with pytest.warns(NondeterministicWarning):
        assert _told(run()["block"]) == [("put_", FIRST + 7, 2)]


def test_an_alert_in_another_thread_counts_without_a_line():
    """No frame of the file called it there.

    The operation is listed, the line is unknown.
    """
    put = functools.partial(torch.zeros(3).put_, torch.tensor([0]), torch.ones(1))
    block = its.deterministic(warn=True)
    with pytest.warns(NondeterministicWarning, match=r"put_ \(once\)"), block:
        ThreadPoolExecutor(1).submit(put).result()
    assert block.alerts == [Alert("put_", None, "")]


def test_without_alerts_there_is_no_warning(recwarn):
    """A block in which everything repeats ends silently."""
    with its.deterministic(warn=True) as block:
        torch.ones(3).sum()
    assert block.alerts == []
    assert [*recwarn] == []


def test_alerts_are_told_after_an_error_too():
    """What ran before the error is listed."""
    with (
        pytest.warns(NondeterministicWarning, match="put_"),
        pytest.raises(LookupError),
        its.deterministic(warn=True),
    ):
        _put_and_raise()


def _put_and_raise():
    _put()
    raise LookupError


def test_alerts_can_be_taken_while_the_block_goes_on():
    """What was taken is not told again."""
    with _listening() as block:
        assert block.take_alerts() == []
        _put()
        assert [alert.count for alert in block.take_alerts()] == [1]
        _put()
        _put()
    assert [alert.count for alert in block.alerts] == [2]
    assert block.take_alerts() == []


def test_nested_blocks_count_for_themselves():
    """After the inner block has ended, the outer one still counts each alert."""
    with _listening() as outer:
        _put()
        with _listening() as inner:
            _put()
            _put()
        _put()
        _put()
    assert [alert.count for alert in inner.alerts] == [2]
    assert [alert.count for alert in outer.alerts] == [3]


def test_a_strict_block_within_raises():
    """The inner block's mode holds inside it, and the outer one's after it."""
    with _listening() as outer:
        with pytest.raises(RuntimeError, match="put_"), its.deterministic():
            _put()
        _put()
    assert [alert.count for alert in outer.alerts] == [1]


def test_warnings_of_attention_are_alerts():
    """On a GPU, attention repeats in strict mode only, and warns in other words."""
    with _listening() as block:
        warnings.warn(ATTENTION, stacklevel=1)
    [alert] = block.alerts
    assert alert.operation == "Memory Efficient attention"
    assert "leave out --warn" in alert.instead


# --------------------------------------------------------------------------------------------------
# Other warnings, and other listeners


def test_other_warnings_pass_unchanged():
    """They reach the user with their category and place, once for each place."""
    with pytest.warns() as caught, _listening():
        warnings.warn("mind the gap", DeprecationWarning, stacklevel=1)
    [warning] = caught
    assert (str(warning.message), warning.category) == ("mind the gap", DeprecationWarning)
    assert warning.filename == __file__


def test_errors_made_of_other_warnings_stay_errors():
    """A user's own filters hold for everything but alerts."""
    with warnings.catch_warnings(), _listening() as block:
        warnings.simplefilter("error", DeprecationWarning)
        with pytest.raises(DeprecationWarning):
            warnings.warn("old", DeprecationWarning, stacklevel=1)
        _put()
    assert len(block.alerts) == 1


def test_alerts_are_counted_where_warnings_were_errors_or_ignored():
    """Filters set before the block do not reach its alerts."""
    for action in ("error", "ignore"):
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            with _listening() as block:
                _put()
        assert [alert.count for alert in block.alerts] == [1]


def test_filters_and_hook_are_put_back():
    """After the block both are exactly what they were."""
    filters, hook = [*warnings.filters], warnings.showwarning
    with _listening():
        assert warnings.filters != filters
        assert warnings.showwarning is not hook
    assert warnings.filters == filters
    assert warnings.showwarning is hook


def test_filters_that_the_block_adds_stay_and_ours_goes():
    """A library imported in the block may set filters: that is its own business."""
    with warnings.catch_warnings():
        filters = [*warnings.filters]
        with _listening():
            warnings.filterwarnings("ignore", message="first")
            warnings.filterwarnings("ignore", message="last", append=True)
        added = [entry for entry in warnings.filters if entry not in filters]
        assert warnings.filters == [added[0], *filters, added[1]]
        assert [entry[1].pattern for entry in added] == ["first", "last"]


def test_filters_that_the_block_resets_stay_reset():
    """``warnings.resetwarnings()`` inside takes ours away too.

    Ending finds nothing to do.
    """
    with warnings.catch_warnings():
        with _listening():
            warnings.resetwarnings()
        assert warnings.filters == []


def test_what_the_block_catches_itself_is_its_own():
    """In the block's own ``catch_warnings`` an alert goes to that list.

    After it, to the table.
    """
    with _listening() as block:
        with warnings.catch_warnings(record=True) as caught:
            _put()
        _put()
    assert len(caught) == 1
    assert [alert.count for alert in block.alerts] == [1]


def test_catching_that_ends_inside_the_block_breaks_nothing():
    """A ``catch_warnings`` left open before the block may end in it."""
    catch = warnings.catch_warnings()
    catch.__enter__()
    with _listening() as block:
        _put()
        catch.__exit__(None, None, None)
    assert [alert.count for alert in block.alerts] == [1]


@pytest.mark.parametrize("keeps", ["logging", "function"])
def test_a_hook_that_outlives_the_block_swallows_nothing(monkeypatch, keeps):
    """A hook of ours that is restored after the block passes everything on."""
    shown = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    with _listening() as block:
        if keeps == "logging":
            logging.captureWarnings(capture=True)
        else:
            ours = warnings.showwarning
            warnings.showwarning = functools.partial(ours)
    if keeps == "logging":
        logging.captureWarnings(capture=False)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("put_ does not have a deterministic implementation", stacklevel=1)
    assert shown == ["put_ does not have a deterministic implementation"]
    assert block.alerts == []


# --------------------------------------------------------------------------------------------------
# One alert


def test_an_alert_says_what_to_use_instead():
    """From the table of advice; what is not in it gets a word that is always true."""
    assert Alert("put_", 1, "").instead == find_advice("put_")
    assert Alert("brand_new_kernel", 1, "").instead == UNLISTED
