"""The activation was replaced by another lambda.

run: setup apply swap apply
ask: apply
probe: out
changed: yes
expect: input act 3
"""
# %% setup
act = lambda v: max(v, 0)
# %% apply
out = [act(v) for v in (-2, -1, 3)]
# %% swap
act = lambda v: max(v, 0.1 * v)
