"""Sockets: selectors and channels, and the server's acceptor, processors and request channel.

Kafka 0.10.2: clients/.../common/network, core/.../network · book 2.4
"""
