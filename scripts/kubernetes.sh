#!/usr/bin/env bash
# Builds a small Kubernetes from its Go modules into the cache, once for each version, and prints where it is:
# etcd, API server, controller manager, scheduler, and KWOK, whose nodes and pods are make-believe.
# Needs Go. The first time costs 12 minutes of one core, and 130 MB to fetch.
set -euo pipefail
shopt -s inherit_errexit

readonly KUBERNETES=1.36.3 KWOK=0.8.0
readonly CACHE="${HEADGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/headgate}"
readonly PROGRAMS="$CACHE/kubernetes-$KUBERNETES-kwok-$KWOK"
readonly STAGES=(
    node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease
    pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete
)

# Programs without a C library, whatever the modules around say; Go may be where its own installer puts it.
export GOWORK=off GOFLAGS=-mod=mod CGO_ENABLED=0 PATH="$PATH:/usr/local/go/bin"

say() {
    printf '%s %s\n' "$(date +%T)" "$*" >&2
}

# A module of our own in an empty folder, which needs one other; prints where the source of that one is.
begin_module() {
    local module=$1 version=$2
    go mod init headgate.test/programs
    go mod edit -require="$module@v$version"
    go mod download "$module"
    go list -m -f '{{.Dir}}' "$module"
}

build() {
    local into=$1 package=$2 flags=${3:-}
    say "building $(basename "$into")"
    go build -p "$(nproc)" -trimpath -ldflags "-s -w $flags" -o "$into" "$package"
}

# Kubernetes replaces its parts by folders of its own source tree. That holds for itself only: here they are replaced
# by the same parts as they were published.
build_kubernetes() {
    local into=$1 source part version=k8s.io/component-base/version
    source="$(begin_module k8s.io/kubernetes "$KUBERNETES")"
    for part in $(awk '$2 == "=>" && $3 ~ "^./staging/" {print $1}' "$source/go.mod"); do
        go mod edit -replace="$part=$part@v0.${KUBERNETES#1.}"
    done
    local flags="-X $version.gitVersion=v$KUBERNETES -X $version.gitMajor=1"
    flags+=" -X $version.gitMinor=$(cut -d. -f2 <<<"$KUBERNETES")"
    build "$into/etcd" go.etcd.io/etcd/server/v3
    for part in kube-apiserver kube-controller-manager kube-scheduler; do
        build "$into/$part" "k8s.io/kubernetes/cmd/$part" "$flags"
    done
}

# In a module of its own: it wants later versions of what both need.
build_kwok() {
    local into=$1 source stage
    source="$(begin_module sigs.k8s.io/kwok "$KWOK")"
    build "$into/kwok" sigs.k8s.io/kwok/cmd/kwok
    for stage in "${STAGES[@]}"; do
        printf -- '---\n'
        cat "$source/kustomize/stage/$stage.yaml"
    done >"$into/kwok-stages.yaml"
}

main() {
    if [[ ! -d $PROGRAMS ]]; then
        if ! command -v go >/dev/null; then
            say 'Kubernetes cannot be built: there is no Go. Hint: install Go 1.26 or later'
            exit 1
        fi
        mkdir -p "$CACHE"
        work="$(mktemp -d "$CACHE/.kubernetes-XXXXXX")"
        trap 'rm -rf "$work"' EXIT
        mkdir "$work/kubernetes" "$work/kwok" "$work/programs"
        (
            cd "$work/kubernetes"
            build_kubernetes "$work/programs"
        )
        (
            cd "$work/kwok"
            build_kwok "$work/programs"
        )
        mv -T "$work/programs" "$PROGRAMS" || [[ -d $PROGRAMS ]]  # somebody else may have been faster
    fi
    printf '%s\n' "$PROGRAMS"
}

main
