"""Measurements, each beside a floor measured in the same run (docs/benchmarks.md)."""
