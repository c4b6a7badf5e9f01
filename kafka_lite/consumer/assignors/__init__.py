"""Partition assignors: who of a group reads which partition."""
