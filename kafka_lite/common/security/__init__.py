"""Identities, which the network carries and everything above it asks about."""
