"""Sorts the differences between two runs of PostgreSQL's regression tests."""
