"""The consumers of before 0.9: the ZooKeeper consumer, which balances its group itself, and SimpleConsumer."""
