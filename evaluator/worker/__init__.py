"""The loop, one claimed run, downloads of models, one file a launcher.

Go there to change where evaluations run.
"""
