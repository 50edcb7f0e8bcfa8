"""`python -m scripts.audit`: known weaknesses of the installed packages, by pip-audit (https://github.com/pypa/pip-audit).

What we know of and live with stands in KNOWN, with the reason; an entry that no package needs any more is told too.
"""

import json
import subprocess
import sys

NOTHING_LOOKED_UP = 3  # exit code: neither good nor bad
KNOWN: dict[str, str] = {}  # advisory → why it does not touch us


def main() -> int:
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--skip-editable"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:  # without advisories there is no report
        packages = []
    looked_up = [package for package in packages if "vulns" in package]
    if not looked_up:
        reason = (done.stderr.strip().splitlines() or ["no advisory was found for any package"])[-1]
        print(f"audit: NOT DONE, nothing could be looked up from here ({reason[:200]})")
        return NOTHING_LOOKED_UP
    found = {weakness["id"]: (package, weakness) for package in looked_up for weakness in package["vulns"]}
    for name, (package, weakness) in sorted(found.items()):
        mended = ", ".join(weakness["fix_versions"]) or "nothing yet"
        reason = f"known: {KNOWN[name]}" if name in KNOWN else "NEW"
        print(f"audit: {package['name']} {package['version']} {name}, mended by {mended} ({reason})")
    for name in KNOWN.keys() - found.keys():
        print(f"audit: {name} is gone; take it out of KNOWN")
    print(f"audit: {len(looked_up)} of {len(packages)} packages looked up, {len(found.keys() - KNOWN.keys())} new")
    return 1 if found.keys() - KNOWN.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
