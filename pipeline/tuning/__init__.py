"""The costs of a query, and the settings that decide them: its plan, its tasks, its batches."""
