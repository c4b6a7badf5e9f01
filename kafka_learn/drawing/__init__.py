"""Draws recorded runs and state machines: SVG for pages, tables for terminals."""
