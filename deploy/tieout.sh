#!/bin/sh
# tieout at the shell of a host where systemd runs it: as the same user, with the same configuration
# and secrets. Installed as /usr/local/bin/tieout; called by root.
set -eu
if [ "$(id -u)" -ne 0 ]; then
  echo "tieout runs here as a user of its own: sudo tieout $*" >&2
  exit 2
fi
set -a
TIEOUT_CONFIG=/etc/tieout/tieout.yaml
[ ! -f /etc/tieout/secrets.env ] || . /etc/tieout/secrets.env
# Who owns the tables (DB_USER, DB_PASSWORD) is needed for these two, and known to root alone.
case "${1-}" in migrate | restore) [ ! -f /etc/tieout/owner.env ] || . /etc/tieout/owner.env ;; esac
set +a
exec runuser -u tieout -- /usr/bin/node "${TIEOUT_PROGRAM:-/opt/tieout}/bin/tieout.js" "$@"
