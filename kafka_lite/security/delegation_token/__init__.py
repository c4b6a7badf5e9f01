"""Delegation tokens (KIP-48): secrets with which others act for a user, for a limited time."""
