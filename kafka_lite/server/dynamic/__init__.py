"""Configurations that change while the broker runs: read from ZooKeeper, handed to the parts that they concern."""
