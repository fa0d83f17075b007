"""A cell reads a setting only where another one says so; it was set, and so was the rate.

run: setup train size rate train
ask: train
probe: rates
changed: yes
expect: input args 4
says: .rate
"""
# %% setup
from argparse import Namespace
args = Namespace(decays=False, step_size=2, rate=0.1)
# %% train
rates = []
for epoch in range(4):
    rates.append(args.rate)
    if args.decays and epoch % args.step_size == 0:
        args.rate *= 0.5
# %% size
args.step_size = 1
# %% rate
args.rate = 0.2
