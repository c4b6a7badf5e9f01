"""Groups that the broker assigns (KIP-848), in the simulator."""
