#!/usr/bin/env python3
"""examples/pingpong: alone, with a partner, with a wrong address, with a partner that is killed."""
import os
import re
import signal
import subprocess
import sys

import weft_cli

program = os.environ["TEST_WEFT_BIN_DIR"] + "/pingpong"
figures = re.compile(r"^shm, 8 bytes: [0-9]+\.[0-9]{3} us half round trip \(median of [0-9]+\)\n$")
failures = 0


def check(good, text):
    global failures
    if not good:
        failures += 1
        print("FAILED:", text)


def run(*words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, env=weft_cli.environment())


r = run()
check(r.returncode == 0 and figures.match(r.stdout), f"pingpong: {r}")

listener = subprocess.Popen([program, "listen"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=weft_cli.environment())
address = listener.stdout.readline().strip()
check(re.fullmatch("shm://[0-9a-f]{32}", address), f"address {address!r}")
r = run(address)
check(r.returncode == 0 and figures.match(r.stdout), f"pingpong {address}: {r}")
_, errors = listener.communicate(timeout=60)
check(listener.returncode == 0 and errors == "", f"listen ended with {listener.returncode}: {errors}")

r = run(address)  # nobody is there any more
check(r.returncode == 1 and "pingpong: shm: nobody answers" in r.stderr, f"address of the dead: {r}")
r = run("shm://1234")
check(r.returncode == 1 and "not an address" in r.stderr, f"wrong address: {r}")
check(run("a", "b").returncode == 2 and run("--what").returncode == 2, "wrong usage")

# Killed while the other side measures: it says so instead of waiting.
listener = subprocess.Popen([program, "listen"], stdout=subprocess.PIPE, text=True, env=weft_cli.environment())
address = listener.stdout.readline().strip()
other = subprocess.Popen([program, address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=weft_cli.environment())



while other.poll() is None:  # until it has been given contact: the region is mapped
    with open(f"/proc/{other.pid}/maps") as maps:
        if "weft-shm" in maps.read():
            break
listener.send_signal(signal.SIGKILL)
listener.wait()
listener.stdout.close()
_, errors = other.communicate(timeout=60)
check(other.returncode == 1 and re.search("^pingpong: (peer_gone|shm: )", errors, re.M), f"{other}: {errors}")
sys.exit(1 if failures else 0)
