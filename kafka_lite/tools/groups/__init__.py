"""Tools for consumer groups: those of the new consumer, and those that keep their offsets in ZooKeeper."""
