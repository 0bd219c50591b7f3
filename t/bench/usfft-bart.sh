#!/bin/bash
# The inverse from eight coils beside that of the Berkeley Advanced Reconstruction Toolbox: the Shepp-Logan phantom of bart,
# 64x64, seen along 100 spokes of 128 samples. Errors are bart's nrmse to the phantom, with the best scale, after the same
# number of steps of conjugate gradients without damping. Times are those of whole processes on one thread.
set -euo pipefail
command -v bart >/dev/null || { echo "bart is not installed" && exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export OMP_NUM_THREADS=1

# item SIZES KINDS FILE: an item of the complex floats of a file of bart.
item() {
	printf 'NRRD0005\ntype: float\ndimension: %d\nsizes: %s\nkinds: complex%s\nendian: little\nencoding: raw\n\n' \
		"$(wc -w <<<"$1")" "$1" "$2"
	cat "$3.cfl"
}

# error FILE: the nrmse of an image.
error() {
	printf '# Dimensions\n64 64\n' >image.hdr
	rawtotext "$1" | texttoraw --type=float | tail -c 32768 >image.cfl
	bart nrmse -s truth image | grep -o '[0-9.]*$'
}

{
	bart traj -r -x128 -y100 long
	bart scale .5 long at
	bart phantom -x64 -k -s8 -t at signals
	bart phantom -x64 -S8 maps
	bart phantom -x64 truth
} >/dev/null 2>&1
item '2 64 64 8' ' domain domain domain' maps >maps.nrrd
item '2 12800 8' ' domain domain' signals >signals.nrrd
item '2 3 12800' ' domain domain' at | rawtotext | tr ' ' '\n' | awk 'NF' |
	awk '{ v[NR % 6] = $1 } NR % 6 == 0 { print v[1] / 64, v[3] / 64 }' | texttoraw >at.nrrd

usfft='usfft -T 2 --inverse --quiet --rtol=1e-12 -n 64,64 -p at.nrrd --coils=maps.nrrd'
for n in 10 20 50; do
	bart pics -i $n -l2 -r 0 -w 1 -t at signals maps rec >/dev/null 2>&1
	$usfft --iter=$n -o ours.nrrd signals.nrrd
	$usfft --iter=$n --weights=pipe -o weighted.nrrd signals.nrrd
	echo "after $n steps: bart $(bart nrmse -s truth rec | grep -o '[0-9.]*$'), usfft $(error ours.nrrd), with --weights=pipe $(error weighted.nrrd)"
done
interleave -n 5 "usfft, 50 steps=$usfft --iter=50 signals.nrrd >/dev/null" \
	"bart, 50 steps=bart pics -i 50 -l2 -r 0 -w 1 -t at signals maps rec >/dev/null 2>&1"
