"""Performance tests of the producer and the consumer, and what they count."""
