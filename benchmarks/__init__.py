"""How fast pcwinter is, in one command: `make bench`, or `python -m benchmarks` from the root of a clone."""
