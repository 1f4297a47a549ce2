"""Text for people: numbers, places, tables, Markdown, HTML. Text that comes from a program is escaped here."""
