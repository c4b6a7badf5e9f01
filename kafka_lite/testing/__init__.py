"""A whole broker inside a test of your own project."""
