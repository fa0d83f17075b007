"""A class gets another method that no one calls, and the account moved.

run: setup month patch month
ask: month
probe: balance
changed: yes
expect: input account 2
innocent: input Account
"""
# %% setup
class Account:
    def __init__(self, balance):
        self.balance = balance
    def interest(self, rate):
        self.balance = round(self.balance * (1 + rate / 12), 2)
        return self.balance
account = Account(1000.0)
# %% month
for _ in range(3):
    balance = account.interest(0.06)
print(balance)
# %% patch
def forgive(self):
    self.balance = 0
Account.forgive = forgive
