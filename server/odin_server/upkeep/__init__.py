"""What the server does on its own: bots, retention, outages."""
