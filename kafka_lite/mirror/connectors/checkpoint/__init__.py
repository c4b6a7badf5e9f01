"""Translates the offsets of groups: the connector, its tasks, and what they read.

Kafka 2.4: connect/mirror/.../connect/mirror · book 8.1.1
"""
