"""The metrics of the runtime: threads, nodes and stores.

Kafka 0.10.2: streams/.../processor/internals (StreamsMetricsImpl.java, StreamThread.java,
ProcessorNode.java) · book 9.1.3
"""
