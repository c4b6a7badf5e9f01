"""Storage: logs of segments, their indexes, and what manages them."""
