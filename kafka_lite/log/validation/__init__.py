"""Validation of produced records: what is checked, and what an append learns from it."""
