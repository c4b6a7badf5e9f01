"""Requests of a partition's broker to the transaction coordinators before it appends to the partition."""
