"""Access control: the operations and resources of each request, and the answers to those that may not."""
