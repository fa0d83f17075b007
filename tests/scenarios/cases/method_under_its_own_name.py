"""A method of an object is kept under the method's name; what the object holds was added to.

run: setup encode extend encode
ask: encode
probe: found
changed: yes
expect: input encode 3
"""
# %% setup
class Words:
    def __init__(self, words):
        self.numbers = {word: n for n, word in enumerate(words)}
    def encode(self, text):
        return [self.numbers.get(word, -1) for word in text.split()]
words = Words(["a", "b"])
encode = words.encode
# %% encode
found = encode("a b c")
# %% extend
words.numbers["c"] = 2
