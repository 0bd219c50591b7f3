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
		line "$method" dptrace --quiet --scores=scores.nrrd -p 0,0 -p 1000,0 -a 180 --method=$method
	done
done < <(scores_theirs)

echo 'He, Wu, Di and Chen 2019: reconstruction by heaps, more than 20 times as fast as on a CPU; h-domes'
gen smooth 8192 8192 20 | tail -c $((8192 * 8192)) >raster
for times in 1 39; do
	printf 'P5\n8192 %d\n255\n' $((8192 * times)) >m.pgm
	for ((i = 0; i < times; i++)); do cat raster; done >>m.pgm
	echo "8192 x $((8192 * times)) bytes$([ $times = 1 ] || echo ", as many as 51200 x 51200")"
	line tile morphrec --hdome=20 m.pgm
done
exit $status
