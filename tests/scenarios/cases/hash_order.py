"""The order of a set of words differs under another hash seed.

run: setup order !env PYTHONHASHSEED=7 !restart setup order
ask: order
probe: first
changed: yes
expect: environment PYTHONHASHSEED
kernel: cold
"""
# %% setup
words = "one two three four five six seven eight nine ten eleven twelve".split()
# %% order
first = list(set(words))
