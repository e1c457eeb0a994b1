"""The local network: announces and finds servers, and invites people to tables."""
