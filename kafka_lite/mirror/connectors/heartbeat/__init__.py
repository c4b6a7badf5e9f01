"""Shows that a mirror is alive: the connector and its task.

Kafka 2.4: connect/mirror/.../connect/mirror · book 8.1.1
"""
