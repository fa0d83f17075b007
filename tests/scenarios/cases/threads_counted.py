"""The cell counts threads that its earlier runs left going.

run: setup q q
ask: q
probe: out
changed: yes
expect: entropy threading.active_count
"""
# %% setup
import threading
# %% q
t = threading.Thread(target=threading.Event().wait, daemon=True); t.start()
out = threading.active_count()
