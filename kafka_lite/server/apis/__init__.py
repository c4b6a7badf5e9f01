"""The handlers of KafkaApis, grouped by what they are about; ``server/kafka_apis.py`` is the table of them."""
