"""Certificates and users for the clusters of tests."""
