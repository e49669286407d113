#!/usr/bin/env python3
"""Checks that a source does not compile, and for the right reason.

usage: compile_fail.py FILE -- COMPILER FLAGS...

The file says `// expect: REGEX`, which must be found in the diagnostics. With -DCONTROL the same file must
compile: that shows that nothing else is wrong with it.
"""
import re
import subprocess
import sys


def compile_source(command, source, *more):
    done = subprocess.run(
        [*command, "-fsyntax-only", *more, source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.returncode == 0, done.stdout


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    source, command = sys.argv[1], sys.argv[3:]
    with open(source, encoding="utf-8") as file:
        expected = re.findall(r"^\s*// expect: (.+?)\s*$", file.read(), re.MULTILINE)
    if not expected:
        sys.exit(f"{source}: has no line `// expect: REGEX`; add what the diagnostics must say")

    compiled, output = compile_source(command, source, "-DCONTROL")
    if not compiled:
        sys.exit(f"{source}: the control variant (-DCONTROL) must compile, but:\n{output}")
    compiled, output = compile_source(command, source)
    if compiled:
        sys.exit(f"{source}: compiles, but must not")
    for regex in expected:
        if not re.search(regex, output):
            sys.exit(f"{source}: does not compile, but the diagnostics do not match `{regex}`:\n{output}")


main()
