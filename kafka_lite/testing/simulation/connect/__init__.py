"""Workers of Kafka Connect in the simulator's world."""
