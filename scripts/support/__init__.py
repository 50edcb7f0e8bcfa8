"""Tiny models, a stand-in for the Hub and other things that both scripts and tests use."""
