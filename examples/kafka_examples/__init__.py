"""The examples that come with Kafka Streams (pipe, temperature, page view), written on ours. Word count is its own."""
