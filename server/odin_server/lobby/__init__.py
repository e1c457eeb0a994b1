"""The tables of this server: `tables` holds them, `listing` pages through them, `quotas` counts."""
