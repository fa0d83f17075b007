"""The helper reads a global that another cell set.

run: setup use edit use
ask: use
probe: out
changed: yes
expect: input alpha 3
"""
# %% setup
alpha = 0.5
def blend(a, b):
    return alpha * a + (1 - alpha) * b
# %% use
out = blend(1, 3)
# %% edit
alpha = 0.9
