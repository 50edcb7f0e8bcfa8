#!/usr/bin/env bash
# Install what pip cannot: scripts/system_packages.sh chromium fonts git
set -euo pipefail

missing=()
for want in "$@"; do
  case "$want" in
    chromium) command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null || missing+=(chromium) ;;
    fonts) fc-list 2>/dev/null | grep "Noto Sans CJK KR" >/dev/null || missing+=(fontconfig fonts-noto-cjk fonts-noto-color-emoji) ;;
    bubblewrap)
      command -v bwrap >/dev/null || missing+=(bubblewrap)
      ldconfig -p 2>/dev/null | grep libseccomp.so.2 >/dev/null || missing+=(libseccomp2) ;;
    slurm) command -v slurmctld /usr/sbin/slurmctld >/dev/null || missing+=(slurmctld slurmd slurm-client) ;;
    docker)
      docker version >/dev/null 2>&1 || command -v dockerd >/dev/null || missing+=(docker.io)
      command -v mmdebstrap >/dev/null || missing+=(mmdebstrap) ;;
    prometheus) command -v promtool >/dev/null || missing+=(prometheus) ;;
    git) command -v git >/dev/null || missing+=(git) ;;
  esac
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "Missing: ${missing[*]}. This machine has no apt-get; install them with its own package manager." >&2
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then sudo=""; elif sudo -n true 2>/dev/null; then sudo="sudo"; else
  echo "Missing: ${missing[*]}. As root: apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
echo "installing ${missing[*]} …"
$sudo apt-get update -qq
if apt-cache show chromium-headless-shell >/dev/null 2>&1; then
  missing=("${missing[@]/%chromium/chromium-headless-shell}") # all that tests and pictures need, and much less work
fi
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
