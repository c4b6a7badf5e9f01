"""Tasks: active ones, which process records, and standby ones, which follow changelogs; their queues and their state.

Kafka 0.10.2: streams/.../processor/internals · book 9.1.3
"""
