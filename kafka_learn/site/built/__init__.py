"""Hooks of mkdocs that change a page when it is HTML."""
