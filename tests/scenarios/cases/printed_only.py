"""The cell only prints; what it prints was changed.

run: setup report edit report
ask: report
probe: loss
changed: yes
expect: input loss 3
"""
# %% setup
loss = 0.25
# %% report
print(f"loss: {loss:.3f}")
# %% edit
loss = 0.125
