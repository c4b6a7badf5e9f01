"""Converters of plain values.

Kafka 0.10.2: connect/api/.../connect/storage; Kafka 2.0: connect/runtime/.../connect/converters · book 8.3.3
"""
