"""The Processor API: what users implement and declare. How nodes are connected is in ``internals``.

Kafka 0.10.2: streams/.../streams/processor · book 9.1
"""
