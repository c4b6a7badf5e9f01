"""Stores whose keys have a time: bytes in segments, and the typed stores around them.

Kafka 0.10.2: streams/.../state/internals · book 9.2.4
"""
