"""A set is sorted before use, so the hash seed does not matter; a word was added.

run: setup list !env PYTHONHASHSEED=3 !restart setup add list
ask: list
probe: out
changed: yes
expect: input words 4
allow: environment PYTHONHASHSEED
kernel: cold
"""
# %% setup
words = ["b", "a", "c"]
# %% list
out = sorted(set(words))
# %% add
words.append("d")
