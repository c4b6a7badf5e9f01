"""MirrorMaker 2, for Connect's workers: heartbeats; names of topics, records of its own topics, translated offsets.

Kafka 2.4: connect/mirror, KIP-382 · book 8.1.1
"""
