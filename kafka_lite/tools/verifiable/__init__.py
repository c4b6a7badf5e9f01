"""Clients for system tests: they report every event as JSON."""
