#!/usr/bin/env python3
"""Prints the library packages with each set of features to check: default, none, each alone, all.

One line "PACKAGE<tab>FEATURES" for each set that differs; use with --no-default-features.
"""

import json
import subprocess

metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--no-deps", "--format-version=1", "--locked"]))
for package in metadata["packages"]:
    if package["publish"] == []:  # programs and benches
        continue
    graph = package["features"]

    def closure(names):
        found, todo = set(), list(names)
        while todo:
            name = todo.pop()
            if name in graph and name != "default" and name not in found:
                found.add(name)
            if name in graph:
                todo += [n for n in graph[name] if n not in found and n in graph]
        return frozenset(found)

    own = [name for name in graph if name != "default"]
    sets = [closure(["default"] if "default" in graph else []), closure([])]
    sets += [closure([name]) for name in own] + [closure(own)]
    for features in dict.fromkeys(sets):
        print(package["name"], ",".join(sorted(features)), sep="\t")
