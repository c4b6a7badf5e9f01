"""A connector of one's own: it copies the rows of CSV files into a topic."""
