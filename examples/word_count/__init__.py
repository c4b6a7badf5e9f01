"""Word count: an application on Kafka Streams, written twice."""
