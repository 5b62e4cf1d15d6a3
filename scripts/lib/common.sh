# Shell functions that the scripts share. Source it; it sets `top` to the repository's root.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# PG_CONFIG, if set, is the pg_config of the PostgreSQL to build for and to run, before the PATH's.
if [[ -n ${PG_CONFIG:-} ]]; then
    [[ $PG_CONFIG == /*/pg_config && -x $PG_CONFIG ]] || die "PG_CONFIG is no full path of a pg_config: $PG_CONFIG"
    export PATH=${PG_CONFIG%/*}:$PATH
fi

# build PRESET [TARGET...]: configures and builds into build/PRESET, with ninja's progress.
build() {
    local preset=$1
    shift
    local log=$top/build/$preset-configure.log
    mkdir -p "$top/build"
    # Lets clones of one user share what ccache keeps.
    export CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1
    # Said each time, since CMake would keep the PostgreSQL of the last time.
    local pg
    pg=$(command -v pg_config) || true
    (cd "$top" && cmake --preset "$preset" ${pg:+-DLOOM_PG_CONFIG="$pg"} >"$log" 2>&1) || { tail -30 "$log"; die "cmake failed, see $log"; }
    (cd "$top" && cmake --build "build/$preset" ${1:+--target "$@"})
}

# The user that servers run as: PostgreSQL refuses root.
if ((EUID == 0)); then
    server_user=postgres
    as_server() { runuser -u "$server_user" -- "$@"; }
else
    server_user=$(id -un)
    as_server() { "$@"; }
fi

# A folder for clusters and data that the server's user can reach, one per clone.
loom_home() {
    local hash
    hash=$(printf '%s' "$top" | cksum | cut -d' ' -f1)
    printf '%s' "${LOOM_HOME:-/var/tmp/pg_loom-$(id -un)-$hash}"
}

pg_major() { pg_config --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/'; }

# private_postgres BUILD_DIR PREFIX: lays out a PostgreSQL below PREFIX that has pg_loom installed. It
# is the distribution's, by links; only what finds its own folder by its path is copied. Nothing of
# the system changes, so an ordinary user can do it.
private_postgres() {
    local build=$1 prefix=$2 bin lib share
    bin=$(pg_config --bindir) lib=$(pg_config --pkglibdir) share=$(pg_config --sharedir)
    mkdir -p "$prefix$bin" "$prefix$lib" "$prefix$share/extension"
    local file
    for file in "$bin"/*; do
        cmp -s "$file" "$prefix$file" || cp -f "$file" "$prefix$file"
    done
    for file in "$lib"/*; do [[ -e $prefix$file ]] || ln -sfn "$file" "$prefix$file"; done
    for file in "$share"/*; do
        [[ $file == */extension || -e $prefix$file ]] || ln -sfn "$file" "$prefix$file"
    done
    for file in "$share"/extension/*; do [[ -e $prefix$file ]] || ln -sfn "$file" "$prefix$file"; done
    rm -f "$prefix$lib/pg_loom.so" "$prefix$share"/extension/pg_loom*
    cp "$build/pg_loom.so" "$prefix$lib/"
    cp -f "$build/bin/loom-gpud" "$prefix$bin/"
    cp "$build"/pg_loom.control "$build"/pg_loom--*.sql "$prefix$share/extension/"
    chmod -R a+rX "$prefix"
}

# cluster_start HOME [SETTING...]: makes (once) and starts a cluster in HOME/data with its socket in
# HOME; the PostgreSQL of private_postgres must lie in HOME/postgres.
cluster_start() {
    local home=$1
    shift
    local bin
    bin=$home/postgres$(pg_config --bindir)
    if ((EUID == 0)); then chown "$server_user" "$home"; fi
    if [[ ! -d $home/data ]]; then
        as_server "$bin/initdb" -D "$home/data" -U "$(id -un)" -A trust -E UTF8 --locale=C.UTF-8 \
            >"$home/initdb.log" || die "initdb failed, see $home/initdb.log"
    fi
    {
        printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$home'" "port = 5432" \
            "fsync = off" "shared_buffers = 256MB" "max_parallel_workers_per_gather = 2" \
            "timezone = 'UTC'" "log_timezone = 'UTC'" "logging_collector = off"
        printf '%s\n' "$@"
    } | as_server tee "$home/data/postgresql.auto.conf" >/dev/null
    cluster_running "$home" && cluster_stop "$home"
    (cd / && as_server "$bin/pg_ctl" -D "$home/data" -l "$home/data/server.log" -w -t 60 start \
        >/dev/null 9<&-) || { tail -20 "$home/data/server.log"; die "the server did not start"; }
}

cluster_running() {
    as_server "$1/postgres$(pg_config --bindir)/pg_ctl" -D "$1/data" status >/dev/null 2>&1
}

cluster_stop() {
    (cd / && as_server "$1/postgres$(pg_config --bindir)/pg_ctl" -D "$1/data" -m fast -w stop \
        >/dev/null 2>&1) || true
}

# loom_psql HOME ARGS...: psql on that cluster, as its superuser.
loom_psql() {
    local home=$1
    shift
    psql -X -h "$home" -p 5432 -U "$(id -un)" "$@"
}
