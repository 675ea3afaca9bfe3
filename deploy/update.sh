#!/bin/sh
# A newer tieout on a host where systemd runs it: `sh update.sh tieout-0.2.0.tgz`, as root. Everything
# that can fail for want of network or disk is done while the old version still works; then stop,
# backup, migrate, start. The old program stays in /opt/tieout.before, the backup where it says.
set -eu
package=$(realpath "$1")
backup=/var/lib/tieout/backup-$(date +%Y-%m-%d-%H%M%S)

rm -rf /opt/tieout.next
mkdir /opt/tieout.next
tar xzf "$package" -C /opt/tieout.next --strip-components=1
(cd /opt/tieout.next && npm ci --omit=dev --ignore-scripts)

systemctl stop tieout
trap 'echo "not updated to the end: the old program is in /opt/tieout or /opt/tieout.before, the backup in $backup (docs/OPERATIONS.md, Updates)" >&2' EXIT
tieout backup "$backup"
rm -rf /opt/tieout.before
mv /opt/tieout /opt/tieout.before
mv /opt/tieout.next /opt/tieout
tieout migrate up
systemctl start tieout
trap - EXIT
echo "updated; now: tieout doctor"
