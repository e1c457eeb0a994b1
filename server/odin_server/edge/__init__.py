"""The transports: calls in, answers out, credentials and quotas."""
