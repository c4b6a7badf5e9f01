"""The threads of an instance: those that run tasks, and the one that keeps its global stores up to date.

Kafka 0.10.2: streams/.../processor/internals (StreamThread.java, GlobalStreamThread.java) · book 9.1.3
"""
