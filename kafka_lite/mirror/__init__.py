"""Copies of topics between clusters: what MirrorMaker and uReplicator are built of.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala · book 8.1
"""
