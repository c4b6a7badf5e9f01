"""The group coordinator: who is in a consumer group, who consumes what, and how far everyone has come.

Kafka 0.10.2: core/.../coordinator · book 5.5
"""
