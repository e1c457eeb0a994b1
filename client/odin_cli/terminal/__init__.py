"""The full-screen client: a pure picture of the table, and the glue that paints it."""
