"""uReplicator's controller: the topics that are mirrored, and the worker of each partition. · book 8.2.2"""
