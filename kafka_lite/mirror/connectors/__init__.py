"""The decisions of MirrorMaker 2: names of topics, records of its own topics, and translated offsets. All is pure.

Kafka 2.4: connect/mirror, KIP-382 · book 8.1.1
"""
