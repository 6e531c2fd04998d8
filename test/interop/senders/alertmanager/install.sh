# Unpacks the package of Debian, which would start a server if it were installed.
set -e
package=prometheus-alertmanager
apt-get download -qq $package 2>/dev/null || { apt-get update -qq && apt-get download -qq $package; }
dpkg-deb -x $package*.deb .
# Its default template is where the package would be installed: the same file, from the folder that it runs in.
sed "s#/usr/share/prometheus/alertmanager#usr/share//prometheus/alertmanager#g" usr/bin/prometheus-alertmanager >prometheus-alertmanager
chmod 755 prometheus-alertmanager
./prometheus-alertmanager --version
