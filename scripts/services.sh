#!/usr/bin/env bash
# Installs the services that the tests start for themselves, on Debian and its like, as root.
# Only the programs: none is started, and one that is here already is left as it is.
# Elsewhere install them by hand, or name running ones (see tests/services).
set -euo pipefail

# Debian starts a server with its package; asked through this file, it does not.
readonly POLICY=/usr/sbin/policy-rc.d

install_package() {
    local made_policy=
    if [[ ! -e $POLICY ]]; then
        printf '#!/bin/sh\nexit 101\n' >"$POLICY"
        chmod +x "$POLICY"
        made_policy=yes
    fi
    local status=0
    DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends "$@" || status=$?
    [[ -z $made_policy ]] || rm -f "$POLICY"
    return "$status"
}

install_postgresql() {
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null ||
        install_package postgresql
}

install_mariadb() {
    command -v mariadbd >/dev/null || install_package mariadb-server
}

install_prometheus() {
    command -v prometheus >/dev/null || install_package prometheus
}

# Kafka has no package: its jars come by Maven, once, into the cache that Flink's come into too. So do those of the
# connector, with which the job that reads Kafka is built.
install_kafka() {
    command -v mvn >/dev/null || install_package maven
    "$(dirname "$0")/../.venv/bin/python" -c '
from headgate.demo.kafka.broker import broker_jars
from headgate.demo.kafka.job import build_kafka_jar
from headgate.engines.flink.local.preparation import find_runtime
runtime = find_runtime()
print(broker_jars(runtime.java))
print(build_kafka_jar(runtime.java, runtime.home))'
}

# What Spark needs to read from it, and from object stores, comes the same way.
install_spark_kafka() {
    fetch_jars spark-kafka
}

install_spark_s3a() {
    fetch_jars spark-s3a
}

fetch_jars() {
    local pom version cache jars
    pom="$(dirname "$0")/../tests/services/$1-pom.xml"
    version="$(sed -n "s:.*<$1.version>\(.*\)</$1.version>.*:\1:p" "$pom")"
    cache="${HEADGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/headgate}"
    jars="$cache/$1-$version"
    if [[ -d $jars ]]; then
        return
    fi
    command -v mvn >/dev/null || install_package maven
    mkdir -p "$cache"
    local unfinished
    unfinished="$(mktemp -d "$cache/.$1-XXXXXX")"
    mvn --batch-mode --quiet --file "$pom" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory="$unfinished"
    mv "$unfinished" "$jars"
}

# An object store that speaks S3 is built from its Go module, in two minutes.
install_object_store() {
    local version=1.8.0 cache program
    cache="${HEADGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/headgate}"
    program="$cache/versitygw-$version"
    if [[ ! -d $program ]]; then
        mkdir -p "$cache"
        local unfinished
        unfinished="$(mktemp -d "$cache/.versitygw-XXXXXX")"
        PATH="$PATH:/usr/local/go/bin" GOBIN="$unfinished" CGO_ENABLED=0 \
            go install "github.com/versity/versitygw/cmd/versitygw@v$version"
        mv "$unfinished" "$program"
    fi
}

# Kubernetes has none either: its programs are built from source, once, which needs Go and 12 minutes of one core.
install_kubernetes() {
    bash "$(dirname "$0")/kubernetes.sh"
}

main() {
    if [[ $# -eq 0 ]]; then
        set -- postgresql mariadb prometheus kafka spark_kafka spark_s3a object_store kubernetes
    fi
    apt-get update --quiet
    local service
    for service in "$@"; do
        "install_$service"
    done
}

main "$@"
