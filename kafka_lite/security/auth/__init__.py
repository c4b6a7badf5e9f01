"""Principals, how they are built from what a connection proved, and JAAS configurations."""
