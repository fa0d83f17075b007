"""The order of words depends on the kernel's hash seed, and a word was added.

run: setup list !restart setup add list
ask: list
probe: out
changed: yes
expect: input words 4
expect: environment PYTHONHASHSEED
kernel: cold
"""
# %% setup
words = [f"w{i}" for i in range(40)]
# %% list
out = list(set(words))
# %% add
words.append("more")
