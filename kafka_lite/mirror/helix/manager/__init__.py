"""Helix on ZooKeeper: the threads and sessions around the pure core."""
