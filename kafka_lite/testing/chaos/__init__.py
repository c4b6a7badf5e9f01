"""A real cluster, each broker its own process, under faults that a seed draws: ``make chaos``.

Kafka's system tests (tests/kafkatest) do this with ducktape on several machines.
"""
