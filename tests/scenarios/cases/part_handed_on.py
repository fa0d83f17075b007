"""The cell reads one attribute and hands the whole on, to code that reads another.

run: setup use other use
ask: use
probe: out
changed: yes
expect: input cfg 3
"""
# %% setup
from types import SimpleNamespace
cfg = SimpleNamespace(batch=4, lr=0.1)
def rate(settings):
    return settings.lr * 2
# %% use
out = cfg.batch + rate(cfg)
# %% other
cfg.lr = 0.5
