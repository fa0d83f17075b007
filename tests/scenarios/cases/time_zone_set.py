"""Another cell set the time zone, in which the cell writes a moment.

run: setup q ins q
ask: q
probe: text
changed: yes
expect: flag time.tzname 3
allow: environment TZ
"""
# %% setup
import os
import time
from datetime import datetime
os.environ["TZ"] = "UTC"
time.tzset()
# %% q
text = datetime.fromtimestamp(0).isoformat()
# %% ins
os.environ["TZ"] = "Asia/Tokyo"
time.tzset()
