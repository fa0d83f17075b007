"""Embeddings are kept, and the table was trained since: what is kept does not follow.

run: setup score train ins score
ask: score
probe: s
changed: yes
expect: input words 4
allow: input table
allow: input cache
"""
# %% setup
import torch
torch.manual_seed(0)
table = torch.nn.Embedding(100, 4)
cache = {}
def embed(word):
    if word not in cache:
        cache[word] = table(torch.tensor(len(word))).detach().clone()
    return cache[word]
words = ["cat", "mouse"]
# %% score
s = float(embed(words[0]) @ embed(words[1]))
# %% train
with torch.no_grad():
    table.weight.add_(1)
# %% ins
words = ["cat", "horses"]
