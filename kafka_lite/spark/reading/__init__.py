"""Reading topics: which offsets a query reads, how they are split into tasks, and what a task does."""
