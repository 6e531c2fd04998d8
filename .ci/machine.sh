# For .ci/run: what the checks need from the machine. Sourced, with $root and $work set.
# Gives `as_user`, the command in front of what an ordinary user can run, and a clean checkout of HEAD in $work/checkout.

say() { printf '\n== %s\n' "$*"; }

# Installs a Debian package if its command is missing and installing is possible.
need() {
  local command=$1 package=$2
  command -v "$command" >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null
  fi
  command -v "$command" >/dev/null || { echo "$command is missing; install $package."; exit 1; }
}

# Unpacks a program whose package would start a server, and the libraries that it needs. Without it, tests are skipped.
unpack() {
  local command=$1 package=$2 place=$3 reason=$4
  shift 4
  command -v "$command" >/dev/null && return
  if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
    download() { apt-get download -qq "$package" "$@" 2>/dev/null; }
    if (
      cd "$work" && { download "$@" || { apt-get update -qq && download "$@"; }; } || exit 1
      for each in "$package" "$@"; do dpkg-deb -x "$each"_*.deb "$package" || exit 1; done
    ); then
      PATH=$PATH:$work/$package/$place
      # For this program alone: others may have libraries of the same names.
      if [ $# != 0 ]; then
        local binary=$work/$package/$place/$command libraries
        libraries=$(dirname "$(find "$work/$package/usr/lib" -name '*.so.*' | head -n 1)")
        mv "$binary" "$binary.unpacked"
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$binary.unpacked" >"$binary"
        chmod 755 "$binary"
      fi
      return
    fi
  fi
  echo "$command is missing, so $reason."
}

# A clean checkout, and a folder for temporary files: the tests copy a small database hundreds of times, so in memory if
# there is room and programs (Postgres) may run there.
check_out() {
  local room memory
  say "A clean checkout of $(git -c safe.directory="$root" -C "$root" rev-parse --short HEAD)"
  mkdir -p "$work/home" "$work/checkout"
  room=$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1 || true)
  if [ "${room:-0}" -gt 2000000 ] && memory=$(mktemp -d /dev/shm/assent-ci.XXXXXX); then
    if cp /bin/true "$memory" && "$memory/true"; then tmp=$memory; else rm -rf "$memory"; fi
  fi
  mkdir -p "$tmp"
  git -c safe.directory="$root" -C "$root" archive HEAD | tar -x -C "$work/checkout"
}

# An ordinary user if this is root, without what the caller's environment could change in the tests.
become_user() {
  local clean=(env -u NODE_ENV -u DATABASE_URL -u FORCE_COLOR)
  as_user=("${clean[@]}")
  if [ "$(id -u)" = 0 ]; then
    chmod 755 "$work"
    chown -R 65534:65534 "$work/home" "$tmp" "$work/checkout"
    as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups "${clean[@]}")
    if ! "${as_user[@]}" node -v >/dev/null 2>&1; then
      echo "An ordinary user cannot run $(command -v node); everything runs as root."
      as_user=("${clean[@]}")
      chown -R 0:0 "$work/home" "$tmp" "$work/checkout"
    fi
  fi
  as_user+=(
    HOME="$work/home"
    TMPDIR="$tmp"
    npm_config_registry="$(npm config get registry 2>/dev/null)"
    npm_config_update_notifier=false
    NO_COLOR=1
    TEST_BROWSER=required
  )
}
