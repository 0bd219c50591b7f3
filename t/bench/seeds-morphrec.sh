#!/bin/bash
# He, Wu, Di and Chen 2019: reconstruction by priority, more than 20 times a CPU's; pictures of 51200 x 51200. Theirs is the
# GPU's; here are the methods on this CPU. The largest picture needs 11 GB of memory and 3 GB of room for files.
source "$(dirname "$0")/seeds.bash"

gen smooth 4096 4096 20 >m.pgm
gen seeds 4096 4096 1000 >s.pgm
for job in '--hdome=20 m.pgm' '-m m.pgm s.pgm'; do
	echo "4096 x 4096 bytes: morphrec $job"
	interleave -n 3 "tile=morphrec $job >/dev/null" "heap, theirs=morphrec --method=heap $job >/dev/null"
done
memory=$(awk '/^MemAvailable/ { print int($2 / 1e6) }' /proc/meminfo)
room=$(df --output=avail . | awk 'NR == 2 { print int($1 / 1e6) }')
if [ "$memory" -lt 11 ] || [ "$room" -lt 3 ] || ! command -v pnmtile >/dev/null; then
	echo "51200 x 51200: left out, $memory GB of memory and $room GB of room"
	exit
fi
pnmtile 51200 51200 m.pgm >large.pgm
echo "h-dome of 51200 x 51200 bytes"
interleave -n 1 "tile=morphrec --max-bytes=8G --hdome=20 large.pgm >/dev/null"
