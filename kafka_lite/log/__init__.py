"""Storage: logs, their segments and indexes, and the managers of logs."""
