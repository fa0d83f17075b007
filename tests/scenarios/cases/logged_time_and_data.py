"""The cell writes to a log how long it takes, by a decorator; its data were changed.

run: setup score add score
ask: score
probe: out
changed: yes
expect: input data 3
innocent: entropy time.perf_counter
"""
# %% setup
import functools, time
data = [1.0, 2.0]
def timed(function):
    @functools.wraps(function)
    def inner(*args):
        begun = time.perf_counter()
        found = function(*args)
        inner.total += time.perf_counter() - begun
        return found
    inner.total = 0.0
    return inner
@timed
def score(values):
    return sum(values)
# %% score
out = score(data)
# %% add
data.append(3.0)
