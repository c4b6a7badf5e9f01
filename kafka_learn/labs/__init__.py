"""Graded labs: starters, workspaces, the grader, and what the tests of labs share."""
