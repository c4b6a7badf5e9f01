"""A consumer in a group whose broker assigns (KIP-848): ``group.protocol=consumer``."""
