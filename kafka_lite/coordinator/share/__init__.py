"""The share coordinator: where the partitions of share groups keep which records are delivered (KIP-932)."""
