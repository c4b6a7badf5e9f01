"""The processors behind the operators of the DSL.

Kafka 0.10.2: streams/.../kstream/internals · book 9.2.2
"""
