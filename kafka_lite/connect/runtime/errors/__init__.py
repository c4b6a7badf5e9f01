"""Errors of single records: they are retried, tolerated, logged, and sent to a dead letter queue.

Kafka 2.0: connect/runtime/.../connect/runtime/errors · book 8.3.7
"""
