"""The panel layout: one record an item; a script in a custom field draws the interfaces and writes one answer."""
