"""Only the number of different words is used, in whatever order; a word was added.

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
out = len({word.upper() for word in words})
# %% add
words.append("more")
