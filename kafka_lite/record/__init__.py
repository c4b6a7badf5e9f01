"""Messages on disk and on the wire: message sets v0 and v1, record batches v2, and their compression."""
