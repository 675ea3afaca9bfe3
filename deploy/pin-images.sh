#!/bin/sh
# Pins the images that are not ours by their digests, so that a tag which comes to mean something else
# changes nothing here: asks the registry once and writes the digests into .env, where compose.yaml and
# the Dockerfile take them from. Look at what changed (git diff, or a copy of .env) before `up`.
#   deploy/pin-images.sh           asks the registry and writes
#   deploy/pin-images.sh --check   exit 1 where an image is not pinned; asks nobody
set -eu
env_file=${ENV_FILE:-.env}
touch "$env_file"
left=0
for pair in NODE_DIGEST=node:22-bookworm-slim POSTGRES_DIGEST=postgres:18 REDIS_DIGEST=redis:7; do
  name=${pair%%=*}
  image=${pair#*=}
  if [ "${1:-}" = --check ]; then
    grep -Eq "^$name=@sha256:[0-9a-f]{64}$" "$env_file" && continue
    echo "$image is not pinned: no $name in $env_file" >&2
    left=1
    continue
  fi
  digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
  if ! printf '%s\n' "$digest" | grep -Eq '^sha256:[0-9a-f]{64}$'; then
    echo "$image: the registry names no digest" >&2
    exit 1
  fi
  rest=$(grep -v "^$name=" "$env_file" || true)
  printf '%s\n' "$rest" "$name=@$digest" | grep -v '^$' >"$env_file.new"
  chmod 600 "$env_file.new"
  mv "$env_file.new" "$env_file"
  echo "$image$(printf '@%s' "$digest")"
done
exit "$left"
