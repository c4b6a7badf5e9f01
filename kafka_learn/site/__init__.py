"""The docs site: pages gathered, directives expanded, links checked."""
