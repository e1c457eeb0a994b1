"""What tests of several packages share: processes, servers, players, patience."""
