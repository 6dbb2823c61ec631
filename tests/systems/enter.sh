#!/usr/bin/env bash
# Runs a command in a userland without changing the userland: it writes into a separate layer.
# Arguments: the userland, the layer's folder, the folder that becomes /results, the checkout that
# becomes /src, then the command. The caller runs it in a new mount namespace.
set -eu
base=$1 layer=$2 results=$3 source=$4
shift 4

mount --make-rprivate /
mount -t overlay overlay \
    -o "lowerdir=$base,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
cd "$layer/root"
mkdir -p proc sys dev tmp src results old
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs tmp
mount --bind "$source" src
mount --bind "$results" results
# Use the name resolution and the certificates of this machine.
for file in etc/resolv.conf etc/hosts etc/ssl/certs/ca-certificates.crt; do
    if [ -e "/$file" ]; then
        rm -f "$file"
        cp -L "/$file" "$file"
    fi
done
# Make the root a mount point, which it is not in a chroot.
pivot_root . old
umount -l /old
cd /
exec "$@"
