"""The contract of odin-table: generated, see the comments in the .proto files."""
