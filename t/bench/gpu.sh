#!/bin/bash
# Each program with -g beside itself on the CPU, all threads: whole processes, taken in turn, which load kernels when they need
# them, as processes do unless they are told otherwise. Then, of the items of a run
# with -g but the first (which pays for the context, the modules and cuFFT), the seconds of kernels, of copies, of the host's
# stages and in all each, and the floor: the seconds that the fewest bytes of device memory, operations and launches which the
# method needs take at the rates of gpu-rate, and the floor as a share of the kernels' time. Lines that begin with | are the table of all that. A line that fails,
# or takes more than BENCH_SECONDS, is said and passed over; exit 1 after any.
set -uo pipefail
source "$(dirname "$0")/gpu.bash"
B=$(realpath "$B")
limit=${BENCH_SECONDS:-600} status=0
rates=$(timeout "$limit" "$B/t/bench/gpu-rate") || status=1
echo "$rates"

# figure_of PATTERN UNIT: a figure of gpu-rate, which PATTERN brackets, times UNIT; 0: it has none.
figure_of() {
	local figure
	figure=$(sed -n "s/.*$1.*/\1/p" <<<"$rates")
	echo "${figure:-0}e$2"
}
declare -A rate=([bytes]=$(figure_of ' move \([0-9]*\) GB' 9) [ops]=$(figure_of ' does \([0-9.]*\) T' 12)
	[doubles]=$(figure_of ' float, \([0-9.]*\) in' 12) [launches]=4e5)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# figure NAME FILE: a number of --stats.
figure() {
	sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" "$2"
}

# each_item FILE REPEAT COMMAND...: seconds of kernels, of copies, of reading, planning, computing and writing, and of the process
# for one more item, from runs on the file once and 1 + REPEAT times. Copies that run beside kernels are not counted: see
# gpu_seconds() in gpu/gpu.h. Where items overlap, the last is near the largest of the stages, not their sum.
each_item() {
	local file=$1 repeat=$2 what files=()
	shift 2
	for ((i = 0; i <= repeat; i++)); do files+=("$file"); done
	timeout "$limit" "$@" -g --stats=one.json "$file" >/dev/null || return 1
	timeout "$limit" "$@" -g --stats=many.json "${files[@]}" >/dev/null || return 1
	for what in kernel_seconds copy_seconds read plan compute write total; do
		awk -v a="$(figure $what one.json)" -v b="$(figure $what many.json)" -v n="$repeat" \
			'BEGIN { printf "%.6f ", (b - a) / n }'
	done
}

# floor_of "WORK ...": the seconds of bytes=N, ops=N, doubles=N and launches=N at their rates, added up; - where nothing is said.
floor_of() {
	local work sum=0
	for work in $1; do
		[ "$work" != - ] || sum=-
		[ "$sum" = - ] || sum=$(awk -v n="$((${work#*=}))" -v rate="${rate[${work%%=*}]}" -v sum="$sum" \
			'BEGIN { if (rate > 0) printf "%.6f\n", sum + n / rate; else print "-" }')
	done
	echo "$sum"
}

# compare NAME WORK ROUNDS FILE COMMAND...
compare() {
	local name=$1 floor rounds=$3 file=$4 whole times
	floor=$(floor_of "$2")
	shift 4
	echo "$name"
	if ! whole=$(timeout "$limit" interleave -n "$rounds" "cpu=$* <$file >/dev/null" "gpu=CUDA_MODULE_LOADING=LAZY $* -g <$file >/dev/null") ||
		! times=$(each_item "$file" "$rounds" "$@"); then
		echo "  FAILED: $* -g"
		printf '| %-44s FAILED\n' "$name"
		status=1
		return
	fi
	echo "$whole"
	awk -v name="$name" -v floor="$floor" -v times="$times" '
		$1 == "cpu" || $1 == "gpu" { wall[$1] = $2 }
		END {
			split(times, t)
			share = floor != "-" && t[1] > 0 ? sprintf("%.0f%%", 100 * floor / t[1]) : "-"
			printf "| %-44s %7s %7s %8s %8s", name, wall["cpu"], wall["gpu"], t[1], t[2]
			printf " %6.4f %6.4f %6.4f %6.4f %7.4f %8s %4s\n", t[3], t[4], t[5], t[6], t[7], floor, share
		}' <<<"$whole"
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

n=$((8192 * 8192)) m=$((4096 * 4096))
echo '| seconds: the whole process on the CPU and with -g; of one more item with -g; the floor, and its share of the kernels'
printf '| %-44s %7s %7s %8s %8s %6s %6s %6s %6s %7s %8s %4s\n' '' cpu gpu kernels copies read plan comp. write 'in all' floor ''
# pictures to keys and back, and two visits of each tile
compare 'morphrec: h-dome of 8192x8192' "bytes=12*$n" 5 smooth.pgm morphrec --hdome=20
compare 'morphrec: 1000 seeds' "bytes=12*$n" 5 seeds.pgm morphrec -m smooth.pgm
compare 'wconv: 4096x4096, 8x8 kernels of 31x31, sums' "ops=4*31*31*$m" 3 f.nrrd wconv --method=direct -k k.nrrd
compare 'wconv: the same by transforms' "bytes=180*$m" 3 f.nrrd wconv --method=fft -k k.nrrd
compare 'wconv: ten steps of Richardson and Lucy' "bytes=10*398*$m" 2 f.nrrd wconv --method=fft -k k.nrrd --deconvolve=10
compare 'emst: the colours of 1000000 random pixels' launches=203 5 colours.ppm emst
compare 'emst: 100000 points in 3 dimensions' launches=72 5 points.nrrd emst --points
compare 'emst: 20000 points, brute; floor: one round' "ops=12*20000*20000" 1 few.nrrd emst --points --method=brute
compare 'dptrace: 500 lines of 270 px' - 5 f.nrrd dptrace --quiet -f lines
# all passes of the sort, the cells and their FFT; 97 million instructions of a warp spread the points
compare 'usfft: type 1, 1e6 points, 1024x1024 modes' "bytes=209*1000000 ops=64*97*1000000" 5 scattered.nrrd \
	usfft -T 1 -n 1024,1024
compare 'usfft: its inverse, 512x512, 20 iterations' "bytes=20*900*512*512" 1 scattered.nrrd \
	usfft -T 2 --inverse -n 512,512 --iter=20 --quiet
# 8 passes over spectra of 641 frequencies; least squares: Schur's algorithm, and the right sides in double
compare 'radon: 16 gathers of 256 traces, 256 curves' "bytes=368*1000000" 5 gathers.nrrd \
	radon --quiet -q -.3:.6:256 -X 12750
compare 'radon: the same by least squares' "bytes=368*1000000 doubles=(17+16)*8*256*256*641" 5 gathers.nrrd \
	radon --quiet -q -.3:.6:256 -X 12750 --lsq
# This line stands last, since it may take all the time that is left.
exit $status
