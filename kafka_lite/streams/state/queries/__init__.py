"""Stores as other threads query them.

Kafka 0.10.2: streams/.../streams/state · book 9.1.4
"""
