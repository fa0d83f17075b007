"""A helper appends to the lists of a history, and to that of an object; the rate was halved.

run: setup train halve train
ask: train
probe: w
changed: yes
expect: input rate 3
innocent: input history
innocent: input state
innocent: input trainer
"""
# %% setup
from collections import defaultdict
from types import SimpleNamespace
history, state, rate = defaultdict(list), SimpleNamespace(log=[]), 0.5
class Trainer:
    def __init__(self):
        self.history, self.best = {"loss": [], "step": []}, []
    def note(self, step, loss):
        for name in ("loss", "step"):
            self.history[name].append(step)
        self.history["loss"].append(loss)
trainer = Trainer()
def train(w, steps):
    for step in range(steps):
        w -= rate * w
        history["weight"].append(w)
        for name in ("step", "double"):
            history[name].append(step)
        state.log.append(w)
        trainer.note(step, w)
    return w
# %% train
w = train(1.0, 3)
# %% halve
rate = rate / 2
