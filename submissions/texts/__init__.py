"""Korean and English texts, failure codes, exceptions.

Go there to change what users read about refusals and failures.
"""
