"""Running tasks, each in a thread of its own.

Kafka 0.10.2: connect/runtime/.../connect/runtime · book 8.3.7
"""
