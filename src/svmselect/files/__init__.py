"""Files that survive: written whole, line by line, locked, and unpacked within bounds."""
