"""The parts that all clients share."""
