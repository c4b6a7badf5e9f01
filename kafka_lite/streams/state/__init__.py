"""State stores.

Kafka 0.10.2: streams/.../streams/state · book 9.1.4
"""
