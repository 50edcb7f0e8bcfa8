"""What a visitor sees: boards, the submission form, the queue, and downloads."""
