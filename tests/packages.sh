# What the project needs from the distribution, and how it gets there. Sourced by tutorials/quickstart.sh
# and tests/run.sh; does nothing by itself.
#
# Names are those of Debian 12 and Ubuntu 24.04. A name ending in "?" is a wish: it comes along when the others are
# installed and the distribution has it; without it a test skips and says so. Once the needed ones are there, no
# network is touched.

# to build the program
build_packages=(g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev libeigen3-dev libboost-context-dev)
# to build and run the tests, the benchmarks and the documentation
test_packages=("${build_packages[@]}" catch2 libbenchmark-dev doxygen doxygen-awesome-css python3
               'python3-venv?' 'ca-certificates?' 'clang-format-14?'
               'libopenmpi-dev?' 'openmpi-bin?')

# to run clang-tidy over the sources
tidy_packages=(clang-tidy-14)

say() { printf '\n== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 2
}

# Those of PACKAGES... that are not installed, wishes without their mark.
missing_packages() {
  local package
  for package in "$@"; do
    package=${package%\?}
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

# apt-get as root or through sudo; asks nothing and waits for another apt to finish.
apt_get() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

# install_packages PACKAGES...: says what is missing and installs it.
install_packages() {
  local package needed=() wishes=() missing
  for package in "$@"; do
    case $package in *\?) wishes+=("$package") ;; *) needed+=("$package") ;; esac
  done
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "This system has no apt-get. Going on with what is here; needed, under Debian's names: ${needed[*]}"
    return
  fi
  mapfile -t missing < <(missing_packages "${needed[@]}")
  if [ ${#missing[@]} = 0 ]; then
    say "Packages: all installed"
    return
  fi
  say "Installing packages: ${missing[*]}"
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    die "installing packages needs root or sudo, and this user has neither. Have an administrator run: apt-get install ${missing[*]}"
  fi
  apt_get update || die "apt-get update failed; the first run needs the network"
  for package in $(missing_packages "${wishes[@]}"); do
    if apt-cache show "$package" >/dev/null 2>&1; then missing+=("$package"); fi
  done
  apt_get install -y --no-install-recommends "${missing[@]}" || die "apt-get install failed; needed: ${missing[*]}"
}
