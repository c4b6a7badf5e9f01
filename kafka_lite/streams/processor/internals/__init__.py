"""The runtime of Streams: nodes, queues and tasks.

Kafka 0.10.2: streams/.../streams/processor/internals · book 9.1.3
"""
