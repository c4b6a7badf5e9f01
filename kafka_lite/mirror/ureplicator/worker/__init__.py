"""uReplicator's worker: a Helix participant that copies the partitions which the controller gives it. · book 8.2.3"""
