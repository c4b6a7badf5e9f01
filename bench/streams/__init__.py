"""Stream processing: ours beside Kafka Streams, quix-streams and faust-streaming, on the same input topics."""
