"""What every backend shows of an item, as plain values: cards of a trace, files of a change, originals of an edit."""
