"""How a report looks: on a terminal, as Markdown, as a page, in a notebook. No torch here."""
