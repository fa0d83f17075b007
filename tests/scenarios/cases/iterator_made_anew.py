"""The iterator was made again before the cell took from it again.

run: data iterate take iterate take
ask: take
probe: chunk
changed: no
"""
# %% data
words = ["a", "b", "c", "d"]
# %% iterate
stream = iter(words)
# %% take
chunk = [next(stream), next(stream)]
