"""Your own Kafka: the shipped code with all the functions that a learner has written."""
