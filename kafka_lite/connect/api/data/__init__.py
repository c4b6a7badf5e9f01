"""The data model of Connect: schemas, the values that they describe, and logical types.

Kafka 0.10.2: connect/api/.../connect/data · book 8.3.3
"""
