"""Finished games: their files, replay and verification."""
