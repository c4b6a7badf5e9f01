"""ZooKeeper: Kafka's znodes, a client based on kazoo, and a server that speaks ZooKeeper's protocol."""
