"""Incremental fetch sessions (KIP-227): what a broker remembers of a client, so that both send changes only."""
