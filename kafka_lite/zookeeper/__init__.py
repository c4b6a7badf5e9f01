"""Coordination: the znodes of Kafka, a client over kazoo, and a server of ZooKeeper's protocol."""
