"""The broker's configuration keys, group by group as Kafka's documentation has them."""
