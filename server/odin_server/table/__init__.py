"""One table: its log folded, its commands, and what each viewer is sent."""
