"""The command ``kafka-lite``: one module per tool of Kafka."""
