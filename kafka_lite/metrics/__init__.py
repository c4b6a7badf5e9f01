"""Metrics of a broker: meters, histograms, gauges and sensors under the names of Kafka's JMX beans."""
