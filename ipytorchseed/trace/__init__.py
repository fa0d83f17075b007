"""torch's operations as they run: who drew, and which first gave another result."""
