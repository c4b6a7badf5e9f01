"""Apache Kafka, complete, in readable Python.

Kafka 0.10.2: the whole source tree · book: all chapters. ``docs/design/architecture.md`` says which part is where.
"""

__version__ = "0.1.0"
"""As in pyproject.toml. To ask ``importlib.metadata`` for it would take a twentieth of a broker's start."""
