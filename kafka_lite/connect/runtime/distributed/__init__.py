"""Workers that share connectors and tasks as members of one group.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed · book 8.3.4
"""
