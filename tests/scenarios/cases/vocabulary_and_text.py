"""The text has a new word, and the vocabulary knows it.

run: setup q more q
ask: q
probe: out
changed: yes
expect: input text
allow: input vocabulary
"""
# %% setup
vocabulary = {"a": 0, "b": 1}
text = "a b a"
# %% q
out = [vocabulary[word] for word in text.split()]
# %% more
text += " c"
vocabulary.setdefault("c", len(vocabulary))
