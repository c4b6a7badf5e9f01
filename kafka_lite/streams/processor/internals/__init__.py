"""The nodes of a topology, and what the runtime's own processors see of it.

Kafka 0.10.2: streams/.../streams/processor/internals · book 9.1.1
"""
