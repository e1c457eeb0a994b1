"""The benchmark of the full-screen client."""
