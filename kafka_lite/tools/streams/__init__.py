"""The tools for applications on Kafka Streams."""
