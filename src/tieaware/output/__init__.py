"""Tables, and their display and export as text, Markdown, HTML, CSV, JSON, LaTeX and data frames."""
