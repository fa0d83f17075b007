"""What the cell imports draws a number as it is imported; what changed comes from elsewhere.

run: draw !restart draw
ask: draw
probe: x
changed: yes
expect: entropy os.urandom
innocent: rng python
kernel: cold
"""
# %% draw
import os
import rich.style
x = os.urandom(4).hex()
