"""Share groups (KIP-932) where the leader of a partition serves them: who has acquired which records."""
