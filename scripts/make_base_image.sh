#!/usr/bin/env bash
# Make a stand-in for Docker Hub's python:X.Y-slim, for machines that reach Debian's packages and no image registry:
#
#   make_base.sh FOLDER [DOCKER_HOST]      FOLDER: for the root file system; DOCKER_HOST: such as unix:///run/docker.sock
#
# Debian comes from this machine's own apt sources, and CPython is this machine's own ($PYTHON, default python3), copied
# to /usr/local. The image trusts the certificates that this machine trusts, and takes over apt's settings. Prints the
# name of the image. Needs root and mmdebstrap.
set -euo pipefail

folder=$1
[ $# -lt 2 ] || export DOCKER_HOST=$2
PYTHON=${PYTHON:-python3}
IFS=' ' read -r version prefix < <("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2], sys.base_prefix)')
image=python:$version-slim
. /etc/os-release

sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
    [ ! -s "$file" ] || sources+=("$file")
done
# What CPython's own modules load, and what the official image has besides.
packages=ca-certificates,netbase,tzdata,libbz2-1.0,libexpat1,libffi8,liblzma5,libncursesw6,libreadline8,libsqlite3-0,libssl3,libuuid1,zlib1g

rm -rf "$folder/root"
mkdir -p "$folder/root"
mmdebstrap --quiet --mode=root --variant=minbase --include="$packages" \
    --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Check-Date "false"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    "$VERSION_CODENAME" "$folder/root" "${sources[@]}"
tar -C "$prefix" -c --exclude=__pycache__ --exclude="lib/python$version/test" --exclude="lib/python$version/idlelib" \
    --exclude="lib/python$version/tkinter" --exclude="lib/python$version/site-packages/*" --exclude='*.a' \
    "bin/python$version" "include/python$version" "lib/python$version" \
    $(cd "$prefix" && ls -d lib/libpython"$version"*.so* 2>/dev/null) | tar -C "$folder/root/usr/local" -x --no-same-owner
ln -s "python$version" "$folder/root/usr/local/bin/python3"
ln -s python3 "$folder/root/usr/local/bin/python"
cp /etc/ssl/certs/ca-certificates.crt "$folder/root/etc/ssl/certs/ca-certificates.crt"
chroot "$folder/root" /sbin/ldconfig
chroot "$folder/root" /usr/local/bin/python -m ensurepip --default-pip >&2

tar -C "$folder/root" -c --exclude=./dev --exclude=./var/cache/apt/archives . |
    docker import --change 'ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8' \
        --change 'CMD ["python3"]' - "$image" >&2
rm -rf "$folder/root"
echo "$image"
