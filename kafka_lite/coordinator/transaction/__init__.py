"""What the transaction coordinator is made of: so far the source of producer ids."""
