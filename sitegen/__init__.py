"""Registry -> pages. Rendering is pure; one function writes."""
