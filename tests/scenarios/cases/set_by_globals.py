"""Another cell set a variable through globals().

run: setup q other q
ask: q
probe: out
changed: yes
expect: input lr 3
"""
# %% setup
lr = 1
# %% q
out = lr*2
# %% other
globals()["lr"] = 5
