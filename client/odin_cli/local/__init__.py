"""This machine: state folder, settings, logs, and servers in their own processes."""
