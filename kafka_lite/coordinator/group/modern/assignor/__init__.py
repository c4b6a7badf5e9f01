"""Assignors of the coordinator, which need no client.

Kafka 4.1: group-coordinator/.../group/assignor · book 5.1.3
"""
