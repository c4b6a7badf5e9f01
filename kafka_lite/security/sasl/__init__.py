"""SASL (RFC 4422): a client proves who it is in an exchange of tokens, by one of several mechanisms."""
