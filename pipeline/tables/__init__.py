"""Topics, a broker's own topics and a broker's files as tables in Spark."""
