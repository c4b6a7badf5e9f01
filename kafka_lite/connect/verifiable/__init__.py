"""Connectors for tests of the runtime: they print a line of JSON for each record.

Kafka 0.10.2: connect/runtime/.../connect/tools · book 8.3.2
"""
