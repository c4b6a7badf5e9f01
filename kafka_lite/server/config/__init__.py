"""The broker's configuration keys, grouped as in Kafka's documentation."""
