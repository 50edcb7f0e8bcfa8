"""The queue, leases, heartbeats, quotas, waiting times, upkeep.

Go there to change when and for whom requests run.
"""
