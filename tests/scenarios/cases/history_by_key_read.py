"""A helper appends to the lists of a history, and gives the best of one of them.

run: setup train train
ask: train
probe: best
changed: yes
expect: input history 2
"""
# %% setup
history = {"weight": [], "step": []}
def train(w):
    for step in range(3):
        w = w * 0.5 + len(history["step"])
        history["weight"].append(w)
        history["step"].append(step)
    return max(history["weight"])
# %% train
best = train(1.0)
