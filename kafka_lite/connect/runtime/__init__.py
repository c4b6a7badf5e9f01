"""The process that runs connectors and tasks: a worker, its herder, and what they store.

Kafka 0.10.2: connect/runtime/.../connect/runtime · book 8.3.3
"""
