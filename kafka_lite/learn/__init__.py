"""What readers learn with: the site's helpers, notebooks, drawings, and the lab runner."""
