"""Embeddings of words are kept; the weight was edited. Tensors are in the dictionary.

run: setup score ins score
ask: score
probe: s
changed: yes
expect: input weight 3
innocent: input cache
"""
# %% setup
import torch
torch.manual_seed(0)
table = torch.nn.Embedding(100, 4)
cache = {}
def embed(word):
    if word in cache:
        return cache[word]
    index = torch.tensor(sum(map(ord, word)) % 100)
    cache[word] = table(index).detach()
    return cache[word]
weight = 1.0
# %% score
s = float((embed("cat") @ embed("dog")) * weight)
# %% ins
weight = 0.5
