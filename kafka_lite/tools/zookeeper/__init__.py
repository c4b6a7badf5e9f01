"""ZooKeeper's server and shell as tools, and the tools' own sessions."""
