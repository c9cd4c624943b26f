"""Correct digits of numpy, scipy and statsmodels on the data that `fit-peers data` prints.

usage: peers.py digits|student|lines FILE; lines are the data as peers.R reads them."""
import json
import math
import sys
import warnings

what, file = sys.argv[1:]
data = json.load(open(file))
if what == "lines":
    text = lambda v: " ".join(map(repr, v))
    for s in data["sets"]:
        print(";".join([s["name"], text(s["y"]), text(s["params"]), text(s["std_errors"])] + [text(c) for c in s["columns"]]))
    sys.exit()

import numpy as np
import scipy.stats
import statsmodels
import statsmodels.api as sm

warnings.simplefilter("ignore")


def digits(got, want):
    if got == want:
        return 16.0
    if not math.isfinite(got):
        return 0.0
    d = -math.log10(abs(got - want) / (abs(want) or 1.0))
    return min(max(d, 0.0), 16.0) + 0.0


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


if what == "digits":
    row(f"numpy {np.__version__} polyfit", polyfit)
    row("numpy Polynomial.fit", scaled)
    row("numpy lstsq", lstsq)
    row(f"scipy {scipy.__version__} linregress", linregress)
    row(f"statsmodels {statsmodels.__version__} OLS, pinv (its default)", ols("pinv"))
    row("statsmodels OLS, qr", ols("qr"))
else:
    ordinary = min(digits(float(scipy.stats.t.ppf(p, v)), t) for p, v, t in data["ordinary"])
    extreme = sorted((digits(float(scipy.stats.t.isf(q, v)), t), q, v) for q, v, t in data["extreme"])
    least, q, v = extreme[0]
    bad = sum(e[0] < 12 for e in extreme)
    print(f"| scipy {scipy.__version__} | {ordinary:.1f} | {least:.1f} (at p = {q:g}, ν = {v:g}); {bad} of the {len(extreme)} below 12 |")
