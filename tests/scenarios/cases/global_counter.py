"""A function counts its calls in a global variable, which the cell does not name.

run: setup call call
ask: call
probe: ticket
changed: yes
expect: input number 2
"""
# %% setup
number = 0
def next_ticket():
    global number
    number += 1
    return f"T{number}"
# %% call
ticket = next_ticket()
