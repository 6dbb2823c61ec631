#!/usr/bin/env bash
# Runs a command in a userland, of which it changes nothing: it writes into a layer of its own.
# Arguments: the userland, the layer's folder, the folder that becomes /results, the checkout that
# becomes /src, then the command. Runs in a mount namespace of its own.
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
# Names are resolved, and servers trusted, as on this machine.
for file in etc/resolv.conf etc/hosts etc/ssl/certs/ca-certificates.crt; do
    if [ -e "/$file" ]; then
        rm -f "$file"
        cp -L "/$file" "$file"
    fi
done
# A root that is a mount point, which a chroot's is not.
pivot_root . old
umount -l /old
cd /
exec "$@"
