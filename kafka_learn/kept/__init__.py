"""Results that are kept until a file changes that made them: recorded runs, executed notebooks."""
