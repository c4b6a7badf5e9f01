"""The ``kafka-lite`` command: one module per Kafka tool."""
