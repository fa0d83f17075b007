"""A library keeps the seed in an environment variable, which another cell has it change.

run: setup draw again draw
ask: draw
probe: out
changed: yes
expect: environment KEPT_SEED 3
innocent: rng torch.cpu
"""
# %% setup
import pathlib, sys
pathlib.Path("site-packages").mkdir(exist_ok=True)
pathlib.Path("site-packages/keeper.py").write_text("""
import os, torch
def seed_all(value=None):
    os.environ["KEPT_SEED"] = str(os.environ.get("KEPT_SEED", 0) if value is None else value)
    torch.manual_seed(int(os.environ["KEPT_SEED"]))
""")
sys.path.append("site-packages")
import keeper
keeper.seed_all(42)
# %% draw
import torch
keeper.seed_all()
out = torch.rand(2)
# %% again
keeper.seed_all(7)
