"""Each run is given a new identifier.

run: setup name name
ask: name
probe: run_name
changed: yes
expect: entropy uuid.uuid4
"""
# %% setup
import uuid
# %% name
run_name = f"exp-{uuid.uuid4()}"
