"""Graded labs: starters, workspaces, the grader, and helpers for the labs' tests."""
