"""A cell was edited that also times itself: the clock is no cause of what changed.

run: setup add add@2
ask: add
probe: total
changed: yes
expect: code add
innocent: entropy time
"""
# %% setup
import time
values = [1, 2, 3]
# %% add
began = time.time()
total = sum(values)
took = time.time() - began
# %% add@2
began = time.time()
total = sum(values) * 2
took = time.time() - began
