"""Drawing what was recorded, and state machines: SVG for pages, boxes for terminals."""
