"""A run folder has a time stamp; the result depends on the seed read from argparse defaults.

run: setup args go args@2 go
ask: go
probe: r
changed: yes
expect: input args 4
innocent: entropy time.strftime
"""
# %% setup
import argparse, os, time, torch
# %% args
p = argparse.ArgumentParser(); p.add_argument('--seed', type=int, default=0); p.add_argument('--lr', type=float, default=1e-3)
args = p.parse_args([])
# %% args@2
p = argparse.ArgumentParser(); p.add_argument('--seed', type=int, default=1); p.add_argument('--lr', type=float, default=1e-3)
args = p.parse_args([])
# %% go
out_dir = os.path.join('runs', time.strftime('%Y%m%d'))
os.makedirs(out_dir, exist_ok=True)
torch.manual_seed(args.seed)
r = torch.rand(1).item()
