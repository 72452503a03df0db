"""Ours beside the peers and the limit, in one table from one run: `tests/bench`."""
