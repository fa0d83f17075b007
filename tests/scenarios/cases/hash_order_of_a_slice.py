"""Every seventh of a set of words is taken: which ones depends on the hash seed.

run: setup pick !restart setup pick
ask: pick
probe: out
changed: yes
expect: environment PYTHONHASHSEED
kernel: cold
"""
# %% setup
words = ["tok%d" % i for i in range(60)]
# %% pick
out = list(set(words))[::7]
