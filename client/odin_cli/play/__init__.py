"""What the full screen and line mode share: choosing a play, and the tutorial."""
