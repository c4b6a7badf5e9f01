"""Rebalancers decide which state each instance should have: one for each mode of an ideal state."""
