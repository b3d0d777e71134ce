"""Push, pull and status on Argilla: what the neutral parts of `sync` need to know of it."""
