"""Connect's data as JSON, with its schema or without.

Kafka 0.10.2: connect/json/.../connect/json · book 8.3.3
"""
