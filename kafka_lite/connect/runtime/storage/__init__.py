"""Stores of configurations, statuses and source offsets, in memory, in a file and in topics.

Kafka 0.10.2: connect/runtime/.../connect/storage · book 8.3.6
"""
