"""Apache Kafka, complete, in readable Python.

Kafka 0.10.2: the whole source tree · book: all chapters. ``docs/design/architecture.md`` says which part is where.
"""

__version__: str


def __getattr__(name: str) -> str:
    """``__version__``, looked up when somebody asks: reading it takes longer than all else that most tools import."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("kafka-lite")
    except PackageNotFoundError:  # a source tree that nobody installed
        return "0.0.0"
