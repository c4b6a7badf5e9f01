"""The operating system that a simulated process sees: stand-ins for Python's C modules that block, wait or draw."""
