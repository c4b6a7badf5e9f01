"""Tools that watch running brokers by their metrics: ``top`` and ``jmx``."""
