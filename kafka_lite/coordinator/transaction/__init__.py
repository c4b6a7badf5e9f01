"""The parts of the transaction coordinator."""
