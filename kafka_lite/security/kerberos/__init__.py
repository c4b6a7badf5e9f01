"""GSSAPI (RFC 4752): a client proves who it is with a ticket of Kerberos, and no password reaches the broker."""
