"""Requests about share groups (KIP-932), and the switch that turns them on.

Kafka 4.1: core/.../server/KafkaApis.scala · book 5.2.1
"""
