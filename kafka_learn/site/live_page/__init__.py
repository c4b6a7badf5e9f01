"""The page of the live cluster: the Python that it runs on, and where the site explains what it shows."""
