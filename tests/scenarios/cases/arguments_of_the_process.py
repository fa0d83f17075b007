"""The arguments that a parser reads were set again; a default that they replace changed as well.

run: setup train change train
ask: train
probe: out
changed: yes
expect: flag sys.argv 3
"""
# %% setup
import argparse
import sys

sys.argv = ["train.py", "--epochs", "3"]
note = "first"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    return parser.parse_args()


# %% train
out = arguments().epochs * 2
# %% change
sys.argv = ["train.py", "--epochs", "5"]
note = "second"
