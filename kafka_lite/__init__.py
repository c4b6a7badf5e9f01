"""Apache Kafka, complete, in readable Python.

Kafka 0.10.2: the whole source tree · book: all chapters. ``docs/design/architecture.md`` says which part is where.
"""

__version__ = "0.1.0"
"""The release, also for pyproject.toml. Asking ``importlib.metadata`` for it would take 5 % of a broker's start."""
