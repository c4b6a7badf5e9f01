"""Transformations and predicates: small changes of single records, configured and not programmed.

Kafka 0.10.2: connect/transforms/.../connect/transforms · book 8.3.3
"""
