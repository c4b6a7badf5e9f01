"""Interactive queries: the counts of word count over HTTP, from any of several instances."""
