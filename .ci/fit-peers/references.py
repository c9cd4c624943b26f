"""Checks the quantiles of Student's t that the tests hold, with mpmath. argument: the data that `fit-peers data` prints."""
import json
import sys

from mpmath import mp, mpf, betainc, gamma, hyp2f1, log10, pi, sqrt

# Probabilities down to 1e-300 are what is left of one half, and keep 60 digits.
mp.dps = 370


def tail(t, df):
    """The probability of a value above t > 0."""
    x = df / (df + t * t)
    if x < mpf("0.9"):
        return betainc(df / 2, mpf(1) / 2, 0, x, regularized=True) / 2
    # From the centre, whose series has positive terms only.
    y = t * t / (df + t * t)
    ratio = mp.exp(mp.loggamma(df / 2 + mpf(1) / 2) - mp.loggamma(df / 2))
    return mpf(1) / 2 - ratio / sqrt(pi) * sqrt(y) * (1 - y) ** (df / 2) * hyp2f1(1, df / 2 + mpf(1) / 2, mpf(3) / 2, y)


def digits(q, df, t):
    """Digits of t, from those of the probability: dt/t = dq / (t f)."""
    q, df, t = mpf(q), mpf(df), abs(mpf(t))
    density = mp.exp(mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2)) / sqrt(df * pi) * (1 + t * t / df) ** (-(df + 1) / 2)
    off = abs(tail(t, df) - q) / (t * density)
    return float(-log10(off)) if off else 16.0


data = json.load(open(sys.argv[1]))
# A probability below one half, exact in the double, and the double nearest to the typed quantile.
least = [min(digits(q if q <= 0.5 else mpf(1) - mpf(q), df, t) for q, df, t in data[name]) for name in ["ordinary", "extreme"]]
print(f"of the quantiles in the tests, {len(data['ordinary'])} ordinary and {len(data['extreme'])} extreme, the worst have {least[0]:.1f} and {least[1]:.1f} digits")
sys.exit(min(least) < 15.5)
