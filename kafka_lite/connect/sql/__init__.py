"""Connectors for tables of SQL databases, on SQLAlchemy: the extra ``kafka-lite[connect]``.

The configuration keys are those of the JDBC connector that is widely used with Kafka · book 8.3.2
"""
