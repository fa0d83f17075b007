"""One piece of code under many seeds: what it gives, and how much of that is the seed."""
