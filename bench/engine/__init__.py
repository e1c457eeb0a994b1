"""Measures the engine: random playouts, beside python-chess in the same run."""
