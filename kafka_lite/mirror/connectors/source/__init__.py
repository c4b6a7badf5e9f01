"""Copies topics: the connector, its tasks, and the pairs of offsets that they write.

Kafka 2.4: connect/mirror/.../connect/mirror · book 8.1.1
"""
