"""The lengths of a set's words are added, in whatever order; after the restart a word was added.

run: setup count !restart setup add count
ask: count
probe: out
changed: yes
expect: input words 4
kernel: cold
"""
# %% setup
words = [f"w{i}" for i in range(40)]
# %% count
out = sum(len(word) for word in set(words))
# %% add
words.append("more")
