"""The native layout: no script; a record for each step, file or trace, and Argilla's own questions."""
