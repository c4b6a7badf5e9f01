"""Sockets: selectors and channels, and the server's acceptor, processors and request channel."""
