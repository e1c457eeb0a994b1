"""What the way in over HTTP costs."""
