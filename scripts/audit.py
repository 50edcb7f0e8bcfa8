"""`python -m scripts.audit`: report known vulnerabilities of the installed packages (https://github.com/pypa/pip-audit).

Accepted vulnerabilities are listed in KNOWN with the reason. Entries that no package needs any more are reported too.
"""

import json
import subprocess
import sys

EXIT_NOTHING_LOOKED_UP = 3  # exit code if no advisory could be fetched
KNOWN: dict[str, str] = {}  # advisory → why it does not affect us


def main() -> int:
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--skip-editable"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:  # pip-audit prints no report if it cannot fetch advisories
        packages = []
    looked_up = [package for package in packages if "vulns" in package]
    if not looked_up:
        reason = (done.stderr.strip().splitlines() or ["no advisory was found for any package"])[-1]
        print(f"audit: NOT DONE, nothing could be looked up from here ({reason[:200]})")
        return EXIT_NOTHING_LOOKED_UP
    found = {
        vulnerability["id"]: (package, vulnerability) for package in looked_up for vulnerability in package["vulns"]
    }
    for name, (package, vulnerability) in sorted(found.items()):
        fixed = ", ".join(vulnerability["fix_versions"]) or "nothing yet"
        reason = f"known: {KNOWN[name]}" if name in KNOWN else "NEW"
        print(f"audit: {package['name']} {package['version']} {name}, fixed by {fixed} ({reason})")
    for name in KNOWN.keys() - found.keys():
        print(f"audit: {name} is gone; remove it from KNOWN")
    print(f"audit: {len(looked_up)} of {len(packages)} packages looked up, {len(found.keys() - KNOWN.keys())} new")
    return 1 if found.keys() - KNOWN.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
