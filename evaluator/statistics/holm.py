"""Holm's correction for testing many hypotheses at once."""


def holm(p_values: list[float], error: float = 0.05) -> list[bool]:
    """Which hypotheses are rejected, at most `error` of having rejected any wrongly (Holm, Scand. J. Statist. 6 (1979))."""
    rejected = [False] * len(p_values)
    for place, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[number] > error / (len(p_values) - place):
            break
        rejected[number] = True
    return rejected
