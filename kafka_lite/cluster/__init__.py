"""Partitions and replicas as a broker sees them."""
