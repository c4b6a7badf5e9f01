"""Comparisons of Python clients at one broker, ours among them, each in a process of its own."""
