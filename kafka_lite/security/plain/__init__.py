"""PLAIN (RFC 4616): the client sends its user and its password. Use it over TLS only."""
