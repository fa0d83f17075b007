"""The vocabulary was numbered in the order of a set, which each kernel has its own.

run: setup encode !restart setup encode
ask: encode
probe: ids
changed: yes
expect: input vocab or environment PYTHONHASHSEED
kernel: cold
"""
# %% setup
words = [f"w{i}" for i in range(40)]
vocab = {word: i for i, word in enumerate(set(words))}
# %% encode
ids = [vocab[word] for word in words]
