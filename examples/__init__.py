"""Applications to start from: copy a folder, and change it."""
