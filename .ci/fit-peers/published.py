"""The fits of the published timings in 40-digit arithmetic: what crates/fit/tests/it/published.rs compares with. Needs mpmath."""
from mpmath import mp, mpf, matrix, sqrt, log, exp, lu_solve, inverse, betainc, findroot

mp.dps = 60
T = [mpf(t) for t in range(1, 6)]
S = [mpf(s) for s in ("49.32", "26.74", "18.60", "14.29", "11.21")]
GB = mpf("15.517")


def quantile(q, df):
    """Of Student's t: exceeded with probability q."""
    tail = lambda t: betainc(mpf(df) / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2 - q
    return findroot(tail, (mpf(2), mpf(6)), solver="anderson", tol=mpf(10) ** -50)


def show(name, *values):
    print(f"{name:28}", *(mp.nstr(v, 22) for v in values))


def interval(value, h, s, t, f=lambda v: v):
    half = lambda v: t * s * sqrt(v)
    return [f(v) for v in (value, value - half(h), value + half(h), value - half(1 + h), value + half(1 + h))]


def least_squares(columns, y):
    n, p = len(y), len(columns)
    a = matrix([[sum(u * v for u, v in zip(c, d)) for d in columns] for c in columns])
    b = lu_solve(a, matrix([sum(u * v for u, v in zip(c, y)) for c in columns]))
    rest = [v - sum(b[k] * columns[k][i] for k in range(p)) for i, v in enumerate(y)]
    s = sqrt(sum(r * r for r in rest) / (n - p))
    return b, s, inverse(a)


def at(row, b, s, v, t, f=lambda u: u):
    p = len(row)
    h = sum(row[i] * v[i, j] * row[j] for i in range(p) for j in range(p))
    return interval(sum(b[i] * row[i] for i in range(p)), h, s, t, f)


t3 = quantile(mpf("0.025"), 3)
show("t(0.975, 3)", t3)
one = [mpf(1)] * 5

b, s, v = least_squares([one, [log(x) for x in T]], [log(y) for y in S])
show("log-log ln a, se, b, se", b[0], s * sqrt(v[0, 0]), b[1], s * sqrt(v[1, 1]))
show("log-log at 10", *at([mpf(1), log(mpf(10))], b, s, v, t3, exp))

b, s, v = least_squares([one, T], [GB / y for y in S])
show("rates a, se, b, se", b[0], s * sqrt(v[0, 0]), b[1], s * sqrt(v[1, 1]))
show("rates at 10", *at([mpf(1), mpf(10)], b, s, v, t3))

b, s, v = least_squares([one, [1 / x for x in T]], S)
show("Amdahl a, se, b, se", b[0], s * sqrt(v[0, 0]), b[1], s * sqrt(v[1, 1]))
show("Amdahl at 10", *at([mpf(1), mpf(1) / 10], b, s, v, t3))


def gauss_newton(f, gradient, b, y):
    """With undamped steps from a start near the minimum; intervals by the delta method."""
    for _ in range(200):
        rows = [gradient(x, b) for x in T]
        rest = [v - f(x, b) for x, v in zip(T, y)]
        step, _, inv = least_squares([[r[k] for r in rows] for k in range(len(b))], rest)
        b = [v + d for v, d in zip(b, step)]
        if max(abs(d / v) for d, v in zip(step, b)) < mpf(10) ** -45:
            break
    else:
        raise SystemExit("no convergence")
    s = sqrt(sum((v - f(x, b)) ** 2 for x, v in zip(T, y)) / (len(y) - len(b)))
    return b, s, inv


def delta(f, gradient, x, b, s, v, t, back=lambda u: u):
    g = gradient(x, b)
    h = sum(g[i] * v[i, j] * g[j] for i in range(len(b)) for j in range(len(b)))
    return interval(f(x, b), h, s, t, back)


power = lambda x, b: b[0] * x ** b[1]
power_gradient = lambda x, b: [x ** b[1], b[0] * x ** b[1] * log(x)]
b, s, v = gauss_newton(power, power_gradient, [mpf("49.4"), mpf("-0.897")], S)
show("power nls a, se, b, se", b[0], s * sqrt(v[0, 0]), b[1], s * sqrt(v[1, 1]))
show("power nls at 10", *delta(power, power_gradient, mpf(10), b, s, v, t3))

amdahl = lambda x, b: log(b[0] + b[1] / x)
amdahl_gradient = lambda x, b: [1 / (b[0] + b[1] / x), 1 / x / (b[0] + b[1] / x)]
b, s, v = gauss_newton(amdahl, amdahl_gradient, [mpf("1.9"), mpf("47.5")], [log(y) for y in S])
show("Amdahl in logs a, se, b, se", b[0], s * sqrt(v[0, 0]), b[1], s * sqrt(v[1, 1]))
show("Amdahl in logs at 10", *delta(amdahl, amdahl_gradient, mpf(10), b, s, v, t3, exp))
