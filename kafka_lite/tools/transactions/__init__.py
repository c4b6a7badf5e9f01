"""The tool that shows and ends transactions."""
