"""A function for how results of a class are shown was registered.

run: setup show other show
ask: show
probe: get_ipython().display_formatter.format(third)[0]
changed: yes
expect: flag IPython.display_formatter 3
says: text/html
"""
# %% setup
from fractions import Fraction

third = Fraction(1, 3)
# %% show
third
# %% other
def as_html(value):
    return f"<b>{value}</b>"


_ = get_ipython().display_formatter.formatters["text/html"].for_type(Fraction, as_html)
