"""Files: their bytes, compression, lines, parts and folders."""
