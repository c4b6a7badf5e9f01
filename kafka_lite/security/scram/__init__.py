"""SCRAM (RFC 5802, RFC 7677): both ends prove that they know the password, and neither sends it."""
