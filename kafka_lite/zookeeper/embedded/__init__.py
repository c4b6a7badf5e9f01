"""A server of ZooKeeper's own protocol, for a cluster that needs no other."""
