"""Tools that start and stop brokers, and what a server process in the foreground needs."""
