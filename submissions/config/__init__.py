"""Settings, options of APIs, durations, paths, logging.

Go there to change a `HANNUN_*` setting.
"""
