"""The ledger: records of past runs, and the SQLite file that stores them."""
