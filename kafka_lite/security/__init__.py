"""Security: the identity of a client, and what it may do.

The network layer and the server take these objects passed in; nothing below knows this package.
"""
