"""JSON mode: one object per line."""
