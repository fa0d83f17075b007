"""A cell prints how long a statement takes, as timeit says.

run: setup q q
ask: q
probe: took
changed: yes
expect: entropy timeit.timeit
"""
# %% setup
import timeit
# %% q
took = timeit.timeit("sum(range(100))", number=20_000)
print(took)
