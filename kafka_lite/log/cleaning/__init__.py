"""Compaction: the cleaner threads, the choice of what to clean, the offset map, the replacement of segments."""
