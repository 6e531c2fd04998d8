# Unpacks PHP and Guzzle from packages of Debian, with what they need.
set -e
packages="php8.2-cli php8.2-common libsodium23 libargon2-1 libedit2 libxml2 libbsd0 libicu72 php-guzzlehttp-guzzle
  php-guzzlehttp-promises php-guzzlehttp-psr7 php-psr-http-client php-psr-http-factory php-psr-http-message
  php-symfony-deprecation-contracts php-getallheaders"
apt-get download -qq $packages 2>/dev/null || { apt-get update -qq && apt-get download -qq $packages; }
for each in *.deb; do dpkg-deb -x "$each" .; done
# Without its own libraries in the way of other programs.
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec usr/bin/php8.2 -n -d include_path=usr/share/php "$@"\n' usr/lib/*-linux-gnu >php
chmod 755 php
./php -r 'require "GuzzleHttp/autoload.php"; new GuzzleHttp\Client();'
