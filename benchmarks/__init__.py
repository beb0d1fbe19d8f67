"""How fast pcwinter is: run `make bench`, or `python -m benchmarks` from the root of a clone."""
