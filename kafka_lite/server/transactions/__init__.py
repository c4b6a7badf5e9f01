"""What the broker of a partition asks the transaction coordinators before it appends to it."""
