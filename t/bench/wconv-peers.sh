#!/bin/bash
# wconv as a command beside what users have: SciPy and OpenCV from Python on the problem of wconv.c, vips on one kernel for
# the whole image. Each reads its files and writes its result, to a new file: one that takes the place of the last run's
# waits, before it begins, for the disk to take that (46 ms of a run of 220).
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
cd "$dir"

gen --type=float noise 4096 4096 >i.nrrd
gen kernels 100 32 32 >k.nrrd
gen kernels 31 1 1 >one.nrrd
pgmtoraw i.nrrd | rawtopnm --range=0:1 >i.pgm
{
	echo 31 31
	tail -c $((31 * 31 * 4)) one.nrrd | od -An -v -tfF -w124
} >one.mat

commands=('wconv=wconv -k k.nrrd --place=corner i.nrrd >o.nrrd' 'wconv, one thread=wconv -t 1 -k k.nrrd --place=corner i.nrrd >o.nrrd')
for module in scipy cv2; do
	if ! $WEIR_PYTHON -c "import $module" 2>/dev/null; then
		echo "$module: not installed"
		continue
	fi
	case $module in
	scipy) commands+=("scipy per kernel=$WEIR_PYTHON $here/wconv_peers.py kernels" "scipy per cell=$WEIR_PYTHON $here/wconv_peers.py cells") ;;
	cv2) commands+=("OpenCV filter2D=$WEIR_PYTHON $here/wconv_peers.py filter2D") ;;
	esac
done
echo "M = 4096, N_K = 32, N = 100, files to file"
interleave -n 5 -b 'rm -f o.*' "${commands[@]}"

echo "M = 4096, one kernel, N = 31"
commands=('wconv=wconv -k one.nrrd i.nrrd >o.nrrd')
if command -v vips >/dev/null; then
	commands+=('vips conv=vips conv i.pgm o.v one.mat --precision=float')
else
	echo "vips: not installed"
fi
interleave -n 5 -b 'rm -f o.*' "${commands[@]}"

if $WEIR_PYTHON -c "import skimage, PIL" 2>/dev/null; then
	echo "deconvolution: error inside, near the edges, seconds"
	$WEIR_PYTHON "$here/wconv_lucy.py"
else
	echo "scikit-image: not installed"
fi

# wide ROWS: a black frame, 40960 wide, made as it is read
wide() {
	gen --type=float constant 40960 1 1 | head -c -163840 | sed "s/^sizes:.*/sizes: 40960 $1/"
	head -c $((163840 * $1)) /dev/zero
}
echo "40960 wide through pipes, N_K = 32, N = 100"
for rows in 2048 10240; do
	wide $rows | wconv --stats=s.json -k k.nrrd | cat >/dev/null
	sed 's/.*"peak_bytes": \([0-9]*\).*"total": \([0-9.]*\).*/\1 \2/' s.json |
		awk -v rows=$rows '{ printf "%5d rows %10.1f Mpixel/s %10.0f MB\n", rows, 40960 * rows / $2 / 1e6, $1 / 1e6 }'
done
