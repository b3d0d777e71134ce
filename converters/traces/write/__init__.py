"""Writers of traces: one module for each form."""
