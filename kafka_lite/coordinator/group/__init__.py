"""The group coordinator: the members of a group, their assignments, and their committed offsets.

Kafka 0.10.2: core/.../coordinator · book 5.5
"""
