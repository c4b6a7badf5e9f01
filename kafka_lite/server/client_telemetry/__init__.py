"""Metrics that clients push to brokers (KIP-714): who is asked for what, and what has arrived."""
