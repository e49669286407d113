#!/usr/bin/env python3
"""examples/hello runs, and README.md shows it word for word."""
import os
import pathlib
import subprocess
import sys

import weft_cli

source = pathlib.Path(os.environ["TEST_WEFT_SOURCE_DIR"])
run = subprocess.run([os.environ["TEST_WEFT_BIN_DIR"] + "/hello"], capture_output=True, text=True, timeout=60,
                     env=weft_cli.environment())
wanted = 'ok: success: 12 bytes, "hello, weft"\n'
if run.returncode != 0 or run.stdout != wanted:
    sys.exit(f"hello ended with {run.returncode} and printed {run.stdout!r} {run.stderr!r}, not {wanted!r}")

blocks = (source / "README.md").read_text().split("```cpp\n")[1:]
shown = [block.split("```")[0] for block in blocks]
if (source / "examples/hello.cc").read_text() not in shown:
    sys.exit("no ```cpp block of README.md is the same text as examples/hello.cc; copy the file into it")
