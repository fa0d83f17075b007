"""A cell sets an attribute of the config module; a function of the notebook reads it.

run: write imports funcs use sweep use
ask: use
probe: w
changed: yes
expect: input config.LR 5
says: In[5] changed `config.LR`: 0.1 → 0.3
"""
# %% write
%%writefile config.py
LR = 0.1
STEPS = 5
EPOCHS = 3
# %% imports
import config
# %% funcs
def descend(w):
    for _ in range(config.STEPS):
        w -= config.LR * 2 * w
    return w
# %% use
w = descend(1.0)
w
# %% sweep
config.EPOCHS = 10
config.LR = 0.3
candidate = descend(2.0)
