"""The book beside the code: its table of contents, its classes, and the modules that are their rooms here."""
