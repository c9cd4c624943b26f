"""Correct digits of numpy, scipy and statsmodels on the data that `fit-peers data` prints (argument: that file)."""
import json
import math
import sys
import warnings

import numpy as np
import scipy.stats
import statsmodels.api as sm

warnings.simplefilter("ignore")
data = json.load(open(sys.argv[1]))


def digits(got, want):
    if got == want:
        return 16.0
    if not math.isfinite(got):
        return 0.0
    d = -math.log10(abs(got - want) / (abs(want) or 1.0))
    return min(max(d, 0.0), 16.0)


def least(got, want):
    return "fails" if len(got) != len(want) else f"{min(digits(g, w) for g, w in zip(map(float, got), want)):.1f}"


def row(name, solve):
    cells = []
    for s in data["sets"]:
        r = solve(s)
        cells.append("–" if r is None else f"{least(r[0], s['params'])} / {'–' if r[1] is None else least(r[1], s['std_errors'])}")
    print(f"| {name} | {' | '.join(cells)} |")


def polyfit(s):
    if s["name"] == "Longley":
        return None
    b, v = np.polyfit(s["x"][0], s["y"], len(s["params"]) - 1, cov=True)
    return b[::-1], np.sqrt(np.diag(v))[::-1]


def scaled(s):
    if s["name"] == "Longley":
        return None
    return np.polynomial.Polynomial.fit(s["x"][0], s["y"], len(s["params"]) - 1).convert().coef, None


def linregress(s):
    if s["name"] != "Norris":
        return None
    r = scipy.stats.linregress(s["x"][0], s["y"])
    return [r.intercept, r.slope], [r.intercept_stderr, r.stderr]


def lstsq(s):
    a = np.column_stack([np.ones(len(s["y"]))] + s["columns"])
    return np.linalg.lstsq(a, s["y"], rcond=None)[0], None


def ols(method):
    def solve(s):
        r = sm.OLS(s["y"], np.column_stack([np.ones(len(s["y"]))] + s["columns"])).fit(method=method)
        return r.params, r.bse

    return solve


row(f"numpy {np.__version__} polyfit", polyfit)
row("numpy Polynomial.fit", scaled)
row("numpy lstsq", lstsq)
row(f"scipy {scipy.__version__} linregress", linregress)
row(f"statsmodels {sm.__version__ if hasattr(sm, '__version__') else __import__('statsmodels').__version__} OLS (pinv)", ols("pinv"))
row("statsmodels OLS (qr)", ols("qr"))
ordinary = min(digits(float(scipy.stats.t.ppf(p, v)), t) for p, v, t in data["ordinary"])
extreme = sorted((digits(float(scipy.stats.t.isf(q, v)), t), q, v) for q, v, t in data["extreme"])
print(f"student: | scipy | {ordinary:.1f} | {extreme[0][0]:.1f} (p = {extreme[0][1]:g}, ν = {extreme[0][2]:g}); {sum(e[0] < 12 for e in extreme)} of {len(extreme)} below 12 |")
