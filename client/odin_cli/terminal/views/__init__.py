"""What the full screen shows: pure functions from a screen and a size to lines."""
