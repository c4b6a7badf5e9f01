"""Groups with members that change their kind: classic ones become groups of KIP-848, and the other way round.

Kafka 4.1: group-coordinator/.../group/GroupMetadataManager.java (convertToConsumerGroup, convertToClassicGroup)
· book 5.2.1
"""
