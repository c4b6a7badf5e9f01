"""What a broker tells of itself: meters, histograms, gauges and sensors under the names of Kafka's JMX beans."""
