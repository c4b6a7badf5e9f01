"""TLS: contexts from keys and certificates in PEM, and the transport that encrypts."""
