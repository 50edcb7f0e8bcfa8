"""The ground floor: records, the store they live in, the queue over it, and the checks before it."""
