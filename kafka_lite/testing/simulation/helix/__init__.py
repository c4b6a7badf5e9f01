"""A cluster of Helix in the simulator: ZooKeeper dies, sessions expire, members are killed and paused. Not in Kafka."""
