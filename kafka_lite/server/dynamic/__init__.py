"""Configurations that change while the broker runs: read from ZooKeeper and applied to the parts that they affect."""
