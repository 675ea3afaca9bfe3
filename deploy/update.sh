#!/bin/sh
# A newer tieout on a host where systemd runs it: `sh update.sh tieout-0.2.0.tgz`, as root. Everything
# that can fail for want of network, disk or a key of the configuration is done while the old version
# still works; then stop, backup, migrate, start. What fails after the stop brings the old version
# back: tables are migrated as a whole or not at all. The old program stays in /opt/tieout.before.
set -eu
if [ $# -ne 1 ] || [ ! -f "$1" ] || [ "$(id -u)" -ne 0 ]; then
  echo "as root, with the package: sh update.sh tieout-0.2.0.tgz" >&2
  exit 2
fi
package=$(realpath "$1")
backup=/var/lib/tieout/backup-$(date +%Y-%m-%d-%H%M%S)

rm -rf /opt/tieout.next
mkdir /opt/tieout.next
tar xzf "$package" -C /opt/tieout.next --strip-components=1
(cd /opt/tieout.next && npm ci --omit=dev --ignore-scripts)
# It reads the configuration; what it says of tables that it has not migrated yet is in order.
code=0
said=$(TIEOUT_PROGRAM=/opt/tieout.next sh /opt/tieout.next/deploy/tieout.sh doctor 2>&1 >/dev/null) || code=$?
if [ $code -eq 2 ]; then
  echo "$said" >&2
  echo "not updated, and nothing was stopped: correct what is said above (CHANGELOG.md in /opt/tieout.next)" >&2
  exit 2
fi

# Of a larger installation `schedule`, `work` and `web` are units of their own, or a timer begins the nights.
units=$(systemctl list-units --plain --no-legend --state=active,activating 'tieout*' | cut -d' ' -f1)

back() {
  if [ -d /opt/tieout.before ] && [ -n "${moved-}" ]; then
    mv /opt/tieout /opt/tieout.next
    mv /opt/tieout.before /opt/tieout
  fi
  [ -z "$units" ] || systemctl start --no-block $units
  echo "not updated: $(echo $units) runs again as before. What stopped the update is said above;" >&2
  echo "correct it and type the same again. How it goes on: tieout status" >&2
}
trap back EXIT
trap 'exit 1' HUP INT TERM
[ -z "$units" ] || systemctl stop $units
tieout backup "$backup"
rm -rf /opt/tieout.before
mv /opt/tieout /opt/tieout.before
moved=yes
mv /opt/tieout.next /opt/tieout
tieout migrate up
trap - EXIT HUP INT TERM
[ -z "$units" ] || systemctl start --no-block $units
echo "updated; the backup is in $backup; now: tieout doctor"
for pair in tieout.sh:/usr/local/bin/tieout systemd/tieout.service:/etc/systemd/system/tieout.service; do
  [ ! -f "${pair#*:}" ] || cmp -s "/opt/tieout/deploy/${pair%%:*}" "${pair#*:}" ||
    echo "other than ${pair#*:}: /opt/tieout/deploy/${pair%%:*}; compare, and copy what is new"
done
