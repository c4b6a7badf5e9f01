"""The loops that every record passes, written for speed.

Each module has a twin of the same signature in ``kafka_lite.record``, which says plainly what it does; a caller chooses
the fast one by importing it. A fast loop handles only the usual record, whose numbers are small and not negative. It
leaves any other record to its twin. So the two agree on all bytes, valid or not, and on all errors:
``tests/unit/record/fast`` compares them.
"""
