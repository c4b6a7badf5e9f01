"""For all tests: examples may take as long as they need, for machines are slow in turns."""

from hypothesis import settings

settings.register_profile("kafka_lite", deadline=None, print_blob=True)
settings.load_profile("kafka_lite")
