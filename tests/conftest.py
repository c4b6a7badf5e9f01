"""For all tests: examples may take as long as they need, for machines are slow in turns; Ctrl-C reaches children."""

import contextlib
import signal

from hypothesis import settings

# A shell that runs the tests in the background has SIGINT ignored, and so would have what the tests start and stop.
with contextlib.suppress(ValueError):  # not the main thread
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("kafka_lite", deadline=None, print_blob=True)
settings.load_profile("kafka_lite")
