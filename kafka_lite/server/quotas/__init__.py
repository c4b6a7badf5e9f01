"""Quotas: how much clients may send, fetch and change (KIP-13, KIP-124), and how fast replicas are copied (KIP-73)."""
