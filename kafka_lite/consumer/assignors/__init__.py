"""Partition assignors of the consumer."""
