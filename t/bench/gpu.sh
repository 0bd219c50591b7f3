#!/bin/bash
# Each program with -g beside itself on the CPU, all threads: the whole process, taken in turn, and of one run with -g the
# seconds of its kernels and of the copies to and from the device.
set -euo pipefail
state=$(morphrec --version | sed -n 's/^GPU: //p')
case $state in
'built without'* | *', no GPU:'*)
	echo "no GPU: $state"
	exit 0
	;;
esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo "$state"

gen smooth 8192 8192 20 >smooth.pgm
gen seeds 8192 8192 1000 >seeds.pgm
gen --type=float smooth 4096 4096 20 >f.nrrd
gen kernels 31 8 8 >k.nrrd
gen --type=float noise 3 100000 >points.nrrd

# compare NAME COMMAND...
compare() {
	local name=$1
	shift
	echo "$name"
	interleave -n 5 "gpu=$* -g >/dev/null" "cpu=$* >/dev/null"
	"$@" -g --stats=s.json >/dev/null
	sed 's/.*\("kernel_seconds": [0-9.]*\), \("copy_seconds": [0-9.]*\).*/  \1, \2/' s.json
}

compare 'morphrec: h-dome of 8192x8192' morphrec --hdome=20 smooth.pgm
compare 'morphrec: the same by heaps' morphrec --method=heap --hdome=20 smooth.pgm
compare 'morphrec: 1000 seeds' morphrec -m smooth.pgm seeds.pgm
compare 'wconv: 4096x4096, 8x8 kernels of 31x31' wconv -k k.nrrd f.nrrd
compare 'emst: 100000 points in 3 dimensions' emst --points points.nrrd
