"""The ledger: records of past runs, and the SQLite file that keeps them."""
