"""Race hunts: a learner's module among threads that may be switched before any statement, seed by seed."""
