#!/bin/bash
# Each program with -g beside itself on the CPU, all threads: whole processes, taken in turn. Then, of the items of a run
# with -g but the first (which pays for the context, the modules and cuFFT), the seconds of kernels, of copies and in all each, and
# what share of the rate of copies within the device's memory (gpu-rate) the kernels reach by the fewest bytes that the work
# must move there. A line that fails, or takes more than BENCH_SECONDS, is said and passed over; exit 1 after any.
set -uo pipefail
source "$(dirname "$0")/gpu.bash"
B=$(realpath "$B")
limit=${BENCH_SECONDS:-600} status=0
copies=$(timeout "$limit" "$B/t/bench/gpu-rate") || status=1
echo "$copies"
rate=$(sed -n 's/.* move \([0-9]*\) GB.*/\1/p' <<<"$copies")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# figure NAME FILE: a number of --stats.
figure() {
	sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" "$2"
}

# each_item FILE REPEAT COMMAND...: seconds of kernels, of copies and of the process for one more item, from runs on 1 and on
# 1 + REPEAT copies of it. Copies that run beside kernels are not counted: see gpu_copy_seconds() in gpu/gpu.h. Where items overlap,
# the third is near the largest of reading, kernels and writing, not their sum.
each_item() {
	local file=$1 repeat=$2 what
	shift 2
	timeout "$limit" "$@" -g --stats=one.json <"$file" >/dev/null || return 1
	for ((i = 0; i <= repeat; i++)); do cat "$file"; done |
		timeout "$limit" "$@" -g --stats=many.json >/dev/null || return 1
	for what in kernel_seconds copy_seconds total; do
		awk -v a="$(figure $what one.json)" -v b="$(figure $what many.json)" -v n="$repeat" \
			'BEGIN { printf "%.6f ", (b - a) / n }'
	done
}

# compare NAME BYTES ROUNDS FILE COMMAND...: BYTES, the fewest of device memory, or - where operations are the bound.
compare() {
	local name=$1 bytes=$2 rounds=$3 file=$4 times
	shift 4
	echo "$name"
	if ! timeout "$limit" interleave -n "$rounds" "cpu=$* <$file >/dev/null" "gpu=$* -g <$file >/dev/null" ||
		! times=$(each_item "$file" "$rounds" "$@"); then
		echo "  FAILED: $* -g"
		status=1
		return
	fi
	awk -v bytes="$bytes" -v rate="${rate:-0}" '{
		printf "  an item: kernels %s s, copies %s s, in all %s s", $1, $2, $3
		if (bytes != "-" && rate && $1 > 0)
			printf ", %.0f %% of the rate of copies", 100 * bytes / $1 / (rate * 1e9)
		print ""
	}' <<<"$times"
}

gen smooth 8192 8192 20 >smooth.pgm
gen seeds 8192 8192 1000 >seeds.pgm
gen --type=float smooth 4096 4096 20 >f.nrrd
gen kernels 31 8 8 >k.nrrd
gen --type=float noise 3 100000 >points.nrrd
gen --type=float noise 3 20000 >few.nrrd
gencmp --traces=256 --samples=1024 --gathers=16 >gathers.nrrd
{
	printf 'P6\n1000 1000\n255\n'
	gen --type=uchar noise 3000 1000 | tail -c 3000000
} >colours.ppm
{
	printf 'NRRD0005\ntype: float\ndimension: 2\nsizes: 4 1000000\nkinds: list domain\n'
	printf 'endian: little\nencoding: raw\ncolumns:=x y re im\n\n'
	gen --type=float noise 4 1000000 | tail -c 16000000
} >scattered.nrrd
for i in $(seq 500); do
	echo "$((100 + i)) $((200 + i)) $((450 + i)) $((300 + i))"
done >lines

compare 'morphrec: h-dome of 8192x8192' $((3 * 8192 * 8192)) 5 smooth.pgm morphrec --hdome=20
compare 'morphrec: the same by heaps' $((3 * 8192 * 8192)) 1 smooth.pgm morphrec --method=heap --hdome=20
compare 'morphrec: 1000 seeds' $((3 * 8192 * 8192)) 5 seeds.pgm morphrec -m smooth.pgm
compare 'wconv: 4096x4096, 8x8 kernels of 31x31' $((8 * 4096 * 4096)) 5 f.nrrd wconv -k k.nrrd
compare 'wconv: the same, ten steps of Richardson and Lucy' - 2 f.nrrd wconv -k k.nrrd --deconvolve=10
compare 'emst: the colours of 1000000 random pixels' - 5 colours.ppm emst
compare 'emst: 100000 points in 3 dimensions' - 5 points.nrrd emst --points
compare 'emst: 20000 points in 3 dimensions, by brute force' - 1 few.nrrd emst --points --method=brute
compare 'dptrace: 500 lines of 270 px' - 5 f.nrrd dptrace --quiet -f lines
compare 'usfft: type 1, 1000000 points, 1024x1024 modes' - 5 scattered.nrrd usfft -T 1 -n 1024,1024
compare 'usfft: the inverse, 512x512 modes of as many points' - 1 scattered.nrrd \
	usfft -T 2 --inverse -n 512,512 --iter=20 --quiet
compare 'radon: 16 gathers of 256 traces, 256 curves' - 5 gathers.nrrd radon --quiet -q -.3:.6:256 -X 12750
compare 'radon: the same by least squares' - 5 gathers.nrrd radon --quiet -q -.3:.6:256 -X 12750 --lsq
exit $status
