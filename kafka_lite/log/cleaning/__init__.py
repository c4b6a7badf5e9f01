"""Compaction: the cleaner threads, what they may clean, the offset map, and how segments are replaced."""
