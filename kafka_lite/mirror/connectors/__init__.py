"""MirrorMaker 2, for Connect's workers: connectors that copy topics, translate offsets of groups, emit heartbeats.

Kafka 2.4: connect/mirror, KIP-382 · book 8.1.1
"""
