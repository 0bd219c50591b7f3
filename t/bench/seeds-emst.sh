#!/bin/bash
# Barsuk and Ivanov, Table 4: the tree of n colours, all pairs compared on a Tesla C2050. Brute force of 1000000 is left out: a
# hundred times the work of 100000.
source "$(dirname "$0")/seeds.bash"

while read -r n theirs; do
	colours "$n" >colours.ppm
	echo "$n colours; theirs: $theirs"
	if [ "$n" -le 10000 ]; then
		interleave -n 5 "lattice or kd-tree=emst colours.ppm >/dev/null" "all pairs=emst --method=brute colours.ppm >/dev/null"
	elif [ "$n" -le 100000 ]; then
		interleave -n 1 "lattice or kd-tree=emst colours.ppm >/dev/null" "all pairs=emst --method=brute colours.ppm >/dev/null"
	else
		interleave -n 5 "lattice or kd-tree=emst colours.ppm >/dev/null"
	fi
done < <(colours_theirs)
