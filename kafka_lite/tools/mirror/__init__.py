"""``kafka-lite mirror-maker``."""
