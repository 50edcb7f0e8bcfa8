"""The website: the boards, the submission form, the queue, and downloads."""
