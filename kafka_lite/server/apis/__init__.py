"""The handlers of KafkaApis, grouped by topic; ``server/kafka_apis.py`` has the table of all of them."""
