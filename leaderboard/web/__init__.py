"""The application: routes by subject, Gradio's API, limits, sign-in.

Go there to change addresses and security (`security`).
"""
