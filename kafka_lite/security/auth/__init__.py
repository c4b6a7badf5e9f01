"""Principals, the builder that derives them from an authenticated connection, and JAAS configurations."""
