"""MirrorMaker 2 as a process of its own: from one file, a worker of Connect for each way between two clusters.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorMaker.java, KIP-382 · book 8.1.1
"""
