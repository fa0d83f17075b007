"""A home-made context manager does not put the temperature back as its body failed.

run: setup sample broken sample
ask: sample
probe: probs
changed: yes
expect: input settings or input TEMPERATURE 3
innocent: input attempts
"""
# %% setup
from contextlib import contextmanager
import torch
settings = {"temperature": 1.0, "top_k": 5}
@contextmanager
def temperature(t):
    old = settings["temperature"]
    settings["temperature"] = t
    yield
    settings["temperature"] = old
def softmax(logits):
    return torch.softmax(logits / settings["temperature"], -1)
logits = torch.tensor([2.0, 1.0, 0.5, -1.0])
attempts = 0
# %% sample
attempts += 1
probs = [round(p, 4) for p in softmax(logits).tolist()]
print(probs)
# %% broken
try:
    with temperature(0.2):
        print(softmax(logits)[7])
except IndexError as e:
    print("oops:", e)
