"""A number is shown with fewer digits since another cell: it is the same number.

run: setup show set show
ask: show
probe: get_ipython().display_formatter.format(third)[0]["text/plain"]
changed: yes
expect: flag IPython.display_formatter 3
allow: flag numpy.set_printoptions
"""
# %% setup
third = 1 / 3
# %% show
third
# %% set
%precision 2
