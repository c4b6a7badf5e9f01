"""The log file: its records, slices of it that are sent to sockets, and down-conversion for old clients."""
