"""Weeks begin on another day, for all who ask the calendar.

run: setup ask sunday ask
ask: ask
probe: header
changed: yes
expect: flag calendar.setfirstweekday 3
"""
# %% setup
import calendar
# %% sunday
calendar.setfirstweekday(6)
# %% ask
header = calendar.weekheader(2)
