"""Changing topics and configurations by request: validation, the change, and waiting until it is visible."""
