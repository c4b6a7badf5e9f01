"""Groups whose assignment the coordinator computes (KIP-848): no JoinGroup, no leader, only heartbeats.

Kafka 4.1: group-coordinator/.../group/modern · book 5.2.1
"""
