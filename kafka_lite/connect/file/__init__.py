"""Connectors that read and write the lines of a file.

Kafka 0.10.2: connect/file/.../connect/file · book 8.3.2
"""
