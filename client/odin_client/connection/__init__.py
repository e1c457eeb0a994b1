"""One connection to one server: address, credential, calls."""
