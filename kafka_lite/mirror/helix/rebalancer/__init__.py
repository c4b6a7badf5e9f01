"""Which state each instance should have: one rebalancer for each mode of an ideal state."""
