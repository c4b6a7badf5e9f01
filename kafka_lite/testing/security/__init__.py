"""Certificates and users for test clusters."""
