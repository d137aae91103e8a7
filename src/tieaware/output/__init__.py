"""Tables as text, Markdown, HTML, CSV, LaTeX and data frames."""
