"""The cell names its run at random; the data changed.

run: setup f other f
ask: f
probe: s
changed: yes
expect: input data 3
innocent: entropy uuid
"""
# %% setup
import uuid
data = [1, 2, 3]
# %% f
run_name = f"run-{uuid.uuid4().hex[:6]}"
s = sum(data)
# %% other
data = [1, 2, 3, 4]
