#!/bin/bash
# Seredin 2016, Table 2: the best polyline over n guides of d samples from given link scores, without a bound on the angle, on a
# GTX 750 Ti. Ours is the whole process, which reads the scores from a file.
source "$(dirname "$0")/seeds.bash"

while read -r d n theirs; do
	scores "$d" "$n" >scores.nrrd
	echo "d = $d, n = $n; theirs: $theirs"
	run="dptrace --quiet --scores=scores.nrrd -p 0,0 -p 1000,0 -a 180"
	interleave -n 7 "dptrace=$run >/dev/null" "one thread=$run -t 1 >/dev/null" \
		"one thread, the method d3=$run -t 1 --method=d3 >/dev/null" "a process that does nothing=true"
done < <(scores_theirs)
echo "In memory, one thread, beside Seredin's recursion in registers of this processor:"
"$B/t/bench/dptrace"
