"""Rebalances through ZooKeeper: what triggers them, and who gets which partition."""
