"""The function's cache was empty in the first run, and the answer is the same.

run: setup compute compute
ask: compute
probe: out
changed: no
"""
# %% setup
import functools
@functools.lru_cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
# %% compute
out = fib(20)
