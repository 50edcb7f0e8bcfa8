"""Item scores, private records, pairs of models, public answers, results on the Hub.

Go there to change what becomes public of questions and answers.
"""
