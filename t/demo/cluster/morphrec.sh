#!/bin/sh
# morphrec.sh N JOBS DIR OPTION... FILE: reconstructs a picture in N shares, JOBS of them at a time. DIR, which must be new,
# takes their states, borders and pictures; `rawjoin DIR/part.*` makes the whole.
set -eu
export N="$1" DIR="$3"
jobs=$2
shift 3

# share I OPTION... FILE: a share that a signal ended is due again. One that is refused ends the loop.
share='i=$1; shift
	morphrec --seam="$DIR" --part="$i/$N" "$@" || { [ $? -gt 128 ] && echo "rose $i"; } || exit 255'

mkdir "$DIR"
due=$(seq 0 $((N - 1)))
while [ -n "$due" ]; do
	echo "$due" | xargs -P "$jobs" -I {} sh -c "$share" share {} "$@" >"$DIR/said"
	due=$(awk '/^rose/ { for (i = 2; i <= NF; i++) print $i }' "$DIR/said" | sort -nu)
done
while due=$(seq 0 $((N - 1)) | while read -r i; do [ -e "$DIR/part.$i" ] || echo "$i"; done) && [ -n "$due" ]; do
	echo "$due" | xargs -P "$jobs" -I {} sh -c "$share" share {} -o "$DIR/part.{}" "$@" >"$DIR/said"
done
