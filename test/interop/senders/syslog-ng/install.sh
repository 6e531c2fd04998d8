# Unpacks the packages of Debian, which would start a server if they were installed.
set -e
packages='syslog-ng-core syslog-ng-mod-http libivykis0 libnet1 libwrap0 libpcre3 libjson-c5 libglib2.0-0'
apt-get download -qq $packages 2>/dev/null || { apt-get update -qq && apt-get download -qq $packages; }
for package in *.deb; do dpkg-deb -x "$package" .; done
mv usr/lib/syslog-ng/*/ modules
mv usr/sbin/syslog-ng .
mkdir libraries
find . -name 'lib*.so*' -not -path './modules/*' -exec mv -t libraries {} +
LD_LIBRARY_PATH=libraries ./syslog-ng --version --module-path=modules
