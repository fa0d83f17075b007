"""The time zone was set in another cell: hours of the day are others, and numbers.

run: setup hours zone hours
ask: hours
probe: hours
changed: yes
expect: flag time.tzname 3
"""
# %% setup
import os
import time
from datetime import datetime
os.environ["TZ"] = "UTC"
time.tzset()
stamps = [0, 3600, 7200]
def hour(stamp):
    return datetime.fromtimestamp(stamp).hour
# %% hours
hours = [hour(stamp) for stamp in stamps]
# %% zone
os.environ["TZ"] = "Asia/Tokyo"
time.tzset()
