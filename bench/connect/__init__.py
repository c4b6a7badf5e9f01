"""Connect beside Java's: a file into a topic and out again, a worker's start, and a rebalance of many connectors."""
