"""The network between the brokers of a test cluster, and their ZooKeeper: it can be cut and slowed down.

Kafka's system tests use tc and iptables for this, which need root · book 6.2
"""
