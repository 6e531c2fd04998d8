# Unpacks the package of Debian, which would start a server if it were installed, and a library that it needs.
set -e
packages='pgbouncer libc-ares2'
apt-get download -qq $packages 2>/dev/null || { apt-get update -qq && apt-get download -qq $packages; }
for each in *.deb; do dpkg-deb -x "$each" .; done
# It refuses to run as root.
chmod 755 .
mv "$(find usr/lib -name 'libcares.so.2' | head -n 1)" "$(find usr/lib -name 'libcares.so.2.*' | head -n 1)" . 2>/dev/null || true
LD_LIBRARY_PATH=. ./usr/sbin/pgbouncer --version
