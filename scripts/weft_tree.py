"""What scripts/check-* share: the files of the tree, the includes in them, and running things side by side."""
import concurrent.futures
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CODE_FOLDERS = ("include", "src", "providers", "tools", "tests", "examples", "bench")
CODE_ENDINGS = (".hpp", ".h", ".cc", ".c")
JOBS = os.cpu_count() or 2


def options(doc):
    """Answers --help from the script's docstring; returns the arguments."""
    if "--help" in sys.argv or "-h" in sys.argv:
        print(doc.strip())
        sys.exit(0)
    return sys.argv[1:]


def files(folders=CODE_FOLDERS, endings=CODE_ENDINGS):
    """Paths relative to the root, sorted. Folders of tools' output are left out."""
    found = []
    for folder in folders:
        for where, names, here in os.walk(os.path.join(ROOT, folder)):
            names[:] = sorted(n for n in names if n != "build" and not n.startswith("."))
            found += [os.path.relpath(os.path.join(where, n), ROOT) for n in here if n.endswith(endings)]
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def includes(path):
    """Yields (line number, text between the brackets, is it <...>)."""
    for number, line in enumerate(read(path).splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match[2], match[1] == "<"


def run(command):
    """Returns (exit status, output)."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def need(program):
    """Ends the script when a program is not there."""
    from shutil import which

    if not which(program):
        sys.exit(f"{os.path.basename(sys.argv[0])}: {program} is not installed; run scripts/setup")
    return program


def side_by_side(work, items):
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(work, items))


def finish(problems, looked_at, advice):
    """Prints problems and the verdict, and ends the script."""
    name = os.path.basename(sys.argv[0])
    for problem in problems:
        print(problem)
    if problems:
        print(f"{name}: {len(problems)} problem{'s' * (len(problems) != 1)}. {advice}")
        sys.exit(1)
    print(f"{name}: fine ({looked_at})")
    sys.exit(0)
