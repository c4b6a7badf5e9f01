"""Share groups (KIP-932): several members read one partition, record by record.

Kafka 4.1: group-coordinator/.../group/modern/share · book 5.2.1
"""
