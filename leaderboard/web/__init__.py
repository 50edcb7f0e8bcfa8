"""The application: routes, Gradio's API, limits, sign-in.

Go there to change addresses and security.
"""
