"""Responses that take long to make: those of many elements, and those that are converted to an older format."""
