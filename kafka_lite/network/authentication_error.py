"""The error of a handshake; in a module of its own, because mypyc compiles no class that extends one of Python's.

Kafka 1.0: clients/.../common/errors/AuthenticationException.java · book 2.1.4
"""


class AuthenticationError(ConnectionError):
    """The peer did not prove who it is, or did not accept our proof."""
