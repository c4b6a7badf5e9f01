"""The nodes of a topology: how they are declared, connected into sub-topologies, and described.

Kafka 0.10.2: streams/.../processor/internals/ProcessorTopology.java · book 9.1.1
"""
