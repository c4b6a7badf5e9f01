"""Apache Kafka, complete, in readable Python.

Kafka 0.10.2: the whole source tree · book: all chapters. ``docs/design/architecture.md`` says which part is where.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("kafka-lite")
except PackageNotFoundError:  # a source tree that nobody installed
    __version__ = "0.0.0"
