"""State stores on disk, in RocksDB.

Kafka 0.10.2: streams/.../streams/state/internals · book 9.1.4
"""
