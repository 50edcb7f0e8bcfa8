"""What others publish about models: scores and lineage.

Go there to change the register and the lineage.
"""
