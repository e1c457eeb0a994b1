"""What a client knows of a table, and the check of its deals."""
