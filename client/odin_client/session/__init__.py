"""One table over a connection: follows it and acts."""
