"""Correct for testing many hypotheses at once, by Holm's method."""


def holm(p_values: list[float], error: float = 0.05) -> list[bool]:
    """Return for each hypothesis whether it is rejected, in the order of `p_values`.

    The probability of any wrong rejection is at most `error`. The smallest p value is compared with error / n, the next one
    with error / (n - 1), and so on until one is too large: [0.01, 0.04, 0.03] -> [True, False, False].
    Source: Holm, Scand. J. Statist. 6 (1979).
    """
    rejected = [False] * len(p_values)
    smallest_first = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(smallest_first):
        if p_values[index] > error / (len(p_values) - rank):
            break
        rejected[index] = True
    return rejected
