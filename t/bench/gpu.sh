#!/bin/bash
# Each program with -g beside itself on the CPU, all threads: the whole process, taken in turn. Then, of one run with -g, the
# seconds of its kernels and of the copies to and from the device, and what share of the rate of copies within the device's
# memory (gpu-rate) the kernels reach by the fewest bytes that the work must move there.
set -euo pipefail
state=$(morphrec --version | sed -n 's/^GPU: //p')
case $state in
'built without'* | *', no GPU:'*)
	echo "no GPU: ${state#*, no GPU: }"
	exit 0
	;;
esac
rate=$("$B/t/bench/gpu-rate" | sed -n 's/.* move \([0-9]*\) GB.*/\1/p')
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# compare NAME BYTES COMMAND...: BYTES, the fewest of device memory, or - where operations are the bound.
compare() {
	local name=$1 bytes=$2
	shift 2
	echo "$name"
	interleave -n 5 "cpu=$* >/dev/null" "gpu=$* -g >/dev/null"
	"$@" -g --stats=s.json >/dev/null
	sed 's/.*"kernel_seconds": \([0-9.]*\), "copy_seconds": \([0-9.]*\).*/\1 \2/' s.json |
		awk -v bytes="$bytes" -v rate="${rate:-0}" '{
			printf "  kernels %s s, copies %s s", $1, $2
			if (bytes != "-" && rate && $1)
				printf ", %.0f %% of the rate of copies", 100 * bytes / $1 / (rate * 1e9)
			print ""
		}'
}

B=$(realpath "$B")
cd "$dir"
gen smooth 8192 8192 20 >smooth.pgm
gen seeds 8192 8192 1000 >seeds.pgm
gen --type=float smooth 4096 4096 20 >f.nrrd
gen kernels 31 8 8 >k.nrrd
gen --type=float noise 3 100000 >points.nrrd
{
	printf 'P6\n1000 1000\n255\n'
	gen --type=uchar noise 3000 1000 | tail -c 3000000
} >colours.ppm
{
	printf 'NRRD0005\ntype: float\ndimension: 2\nsizes: 4 1000000\nkinds: list domain\n'
	printf 'endian: little\nencoding: raw\ncolumns:=x y re im\n\n'
	gen --type=float noise 4 1000000 | tail -c 16000000
} >scattered.nrrd

compare 'morphrec: h-dome of 8192x8192' $((3 * 8192 * 8192)) morphrec --hdome=20 smooth.pgm
compare 'morphrec: the same by heaps' $((3 * 8192 * 8192)) morphrec --method=heap --hdome=20 smooth.pgm
compare 'morphrec: 1000 seeds' $((3 * 8192 * 8192)) morphrec -m smooth.pgm seeds.pgm
compare 'wconv: 4096x4096, 8x8 kernels of 31x31' $((8 * 4096 * 4096)) wconv -k k.nrrd f.nrrd
compare 'emst: the colours of 1000000 random pixels' - emst colours.ppm
compare 'emst: 100000 points in 3 dimensions, by brute force' - emst --points points.nrrd
compare 'usfft: type 1, 1000000 points, 1024x1024 modes' - usfft -T 1 -n 1024,1024 scattered.nrrd
compare 'usfft: the inverse, 512x512 modes of as many points' - usfft -T 2 --inverse -n 512,512 --iter=20 --quiet scattered.nrrd
