"""Job folder, inference process, answer cache, latency pass.

Go there to change what crosses the sandbox wall.
"""
