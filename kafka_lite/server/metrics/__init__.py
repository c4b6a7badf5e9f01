"""The broker's metrics: the beans, their meaning, and what reports them."""
