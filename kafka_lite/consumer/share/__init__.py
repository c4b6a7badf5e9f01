"""Share consumers (KIP-932): the members of a group read the same partitions, and acknowledge record by record.

Kafka 4.1: clients/.../consumer/KafkaShareConsumer.java · book 4.1.1
"""
