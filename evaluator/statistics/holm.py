"""Holm's correction for testing many hypotheses at once."""


def holm(p_values: list[float], error: float = 0.05) -> list[bool]:
    """Return for each hypothesis whether it is rejected, in the order of `p_values`.

    The probability of any wrong rejection is at most `error`. Source: Holm, Scand. J. Statist. 6 (1979).
    """
    rejected = [False] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] > error / (len(p_values) - rank):
            break
        rejected[index] = True
    return rejected
