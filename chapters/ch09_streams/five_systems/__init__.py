"""The same count in five systems: MapReduce, Storm with Trident, Spark, Kafka Streams, and ours. Book 9.3."""
