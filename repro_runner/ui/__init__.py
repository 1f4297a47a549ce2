"""The web UI, a Streamlit app on this machine alone: the runs of a folder, one of them, two compared, and a new one.

`app.py` is what Streamlit runs; each page is a module. Only these import streamlit. What they show of a run comes from
the views and templates of `repro_runner/report`: text of a run reaches the browser through an escaping template, a code
block or a list, and never as Markdown.
"""
