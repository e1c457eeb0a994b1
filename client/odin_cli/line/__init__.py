"""Line mode: plain sentences and typed commands."""
