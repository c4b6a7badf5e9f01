"""Tools for Connect: start a worker.

Kafka 0.10.2: connect/runtime/.../connect/cli · book 8.3.1
"""
