#!/bin/bash
# How each program grows with threads: whole processes at 1, 2, 4 .. threads up to the processors here, files to /dev/null, the
# last column as multiples of one thread's time.
set -uo pipefail
B=$(realpath "$B")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
status=0

grow() {
	local name=$1 t runs=()
	shift
	echo "$name"
	for ((t = 1; t <= $(nproc); t *= 2)); do
		runs+=("$t threads=$* -t $t >/dev/null")
	done
	interleave -n 3 "${runs[@]}" || status=1
}

gen smooth 8192 8192 20 >smooth.pgm
gen --type=float smooth 4096 4096 20 >f.nrrd
gen kernels 100 32 32 >k.nrrd
gencmp --traces=512 --samples=2048 --gathers=16 >gathers.nrrd
{
	printf 'P6\n1000 1000\n255\n'
	gen --type=uchar noise 3000 1000 | tail -c 3000000
} >colours.ppm
{
	printf 'NRRD0005\ntype: double\ndimension: 2\nsizes: 4 4000000\nkinds: list domain\n'
	printf 'endian: little\nencoding: raw\ncolumns:=x y re im\n\n'
	gen --type=double noise 4 4000000 | tail -c 128000000
} >scattered.nrrd
for i in $(seq 500); do
	echo "$((100 + i)) $((200 + i)) $((450 + i)) $((300 + i))"
done >lines

grow 'wconv: 4096x4096, 32x32 kernels of 100x100' wconv -k k.nrrd f.nrrd
grow 'usfft: type 1, 4000000 points, 2048x2048 modes' usfft -T 1 -n 2048,2048 scattered.nrrd
grow 'radon: 16 gathers of 512 traces of 2048 samples, 512 curves' radon --quiet -q -.3:.6:512 -X 25550 gathers.nrrd
grow 'morphrec: h-dome of 8192x8192' morphrec --hdome=20 smooth.pgm
grow 'emst: the colours of 1000000 random pixels' emst colours.ppm
grow 'dptrace: 500 lines of 270 px' dptrace --quiet -f lines f.nrrd
exit $status
