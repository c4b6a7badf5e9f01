"""The DSL: streams and tables, and what is made of them.

Kafka 0.10.2: streams/.../streams/kstream · book 9.2
"""
