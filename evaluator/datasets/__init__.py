"""Where items come from, `import`, the leak check.

Go there to change test sets.
"""
