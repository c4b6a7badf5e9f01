"""The low-level consumer: one connection to one broker, and fetches by hand."""
