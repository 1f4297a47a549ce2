"""Show a report: on a terminal, as Markdown, as an HTML page, in a notebook. This package does not need torch."""
