"""What the runtime measures: threads, nodes and stores.

Kafka 0.10.2: streams/.../processor/internals (StreamsMetricsImpl.java, StreamThread.java,
ProcessorNode.java) · book 9.1.3
"""
