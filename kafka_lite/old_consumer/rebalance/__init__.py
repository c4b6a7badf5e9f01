"""Rebalances through ZooKeeper: their triggers, and the partitions of each consumer."""
