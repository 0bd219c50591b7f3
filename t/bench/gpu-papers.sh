#!/bin/bash
# The tables of the papers whose authors had a GPU, by our programs with -g: the seconds of kernels, of copies and of the whole
# process, of the second of two runs, beside theirs. A line that fails, or takes more than BENCH_SECONDS, is said and passed
# over; exit 1 after any.
source "$(dirname "$0")/gpu.bash"
source "$(dirname "$0")/seeds.bash"
limit=${BENCH_SECONDS:-600} status=0

# line WHAT COMMAND...: the command gets -g.
line() {
	local what=$1 run begin=0 wall
	shift
	for run in 1 2; do
		begin=$EPOCHREALTIME
		if ! timeout "$limit" "$@" -g --stats="$run.json" >/dev/null; then
			echo "  $what: FAILED: $* -g"
			status=1
			return
		fi
		wall=$(awk "BEGIN { printf \"%.3f\", $EPOCHREALTIME - $begin }")
	done
	echo "  $what: kernels $(figure kernel) s, copies $(figure copy) s, process $wall s"
}

figure() {
	sed -n "s/.*\"$1_seconds\": \([0-9.e+-]*\).*/\1/p" 2.json
}

echo 'Barsuk and Ivanov, Table 4: the tree of colours, all pairs compared on a Tesla C2050'
while read -r n theirs; do
	colours "$n" >colours.ppm
	echo "$n colours; theirs: $theirs"
	line 'all pairs' emst --method=brute colours.ppm
	line 'the lattice' emst colours.ppm
done < <(colours_theirs)

echo 'Seredin 2016, Table 2: the best polyline over n guides of d samples, from link scores, on a GTX 750 Ti'
while read -r d n theirs; do
	scores "$d" "$n" >scores.nrrd
	echo "d = $d, n = $n; theirs: $theirs"
	for method in d3 window; do
		line "$method" dptrace --quiet --scores=scores.nrrd -p 0,0 -p 1000,0 -a 30 --method=$method
	done
done < <(scores_theirs)

echo 'He, Wu, Di and Chen 2019: reconstruction by heaps, more than 20 times as fast as on a CPU; h-domes'
for side in 4096 16384; do
	gen smooth $side $side 20 >m.pgm
	echo "$side x $side bytes"
	for method in heap tile; do
		line "$method" morphrec --method=$method --hdome=20 m.pgm
	done
done
exit $status
