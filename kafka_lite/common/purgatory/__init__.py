"""Delayed operations, and the hierarchical timing wheels that expire them.

Kafka 0.10.2: core/.../server/DelayedOperation.scala, utils/timer/ · book 6.3
"""
