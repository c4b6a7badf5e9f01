"""The docs site: pages gathered, fences expanded, links checked."""
