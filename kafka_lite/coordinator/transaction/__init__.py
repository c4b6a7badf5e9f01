"""What the transaction coordinator is made of."""
