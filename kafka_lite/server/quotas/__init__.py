"""Replication quotas: how fast replicas that are being moved may be copied (KIP-73, KIP-113)."""
