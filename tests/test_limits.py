"""Generated code cannot take more memory or time than it may."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.limits import LimitedCalls, LimitError


def behave(what):
    """Do one of several things."""
    if what == "grow":
        return len(bytearray(1 << 28))
    if what == "never end":
        while True:
            time.sleep(1)
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "fail":
        raise KeyError(what)
    return what, os.getpid()


def test_each_call_has_its_outcome_and_the_process_lives_on():
    """Results and errors return, memory is limited, one process serves all calls."""
    with LimitedCalls(behave, memory=1 << 27) as calls:
        _, process = calls("pid")
        assert process != os.getpid()
        with pytest.raises(LimitError, match="memory"):
            calls("grow")
        with pytest.raises(KeyError, match="fail"):
            calls("fail")
        assert calls("pid") == ("pid", process)


@pytest.mark.parametrize("what", ["never end", "die"])
def test_a_call_that_ends_its_process_fails_alone(what):
    """The next one has another process."""
    with LimitedCalls(behave, seconds=1) as calls:
        _, process = calls("pid")
        with pytest.raises(LimitError, match="exit code"):
            calls(what)
        assert calls("pid")[1] != process


def test_nothing_is_left():
    """The process is gone when the calls are over."""
    with LimitedCalls(behave) as calls:
        _, process = calls("pid")
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
