"""The log file itself: its records as a file, slices of it that are sent, and their conversion for old clients."""
