"""Text for people: numbers, places, tables, Markdown, HTML. What comes from a user is made harmless here."""
