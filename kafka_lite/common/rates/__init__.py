"""Limits of rates, of work and of messages."""
