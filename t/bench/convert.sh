#!/bin/bash
# The converters on a P5 picture of 256 MiB in the page cache, beside cat and netpbm's pamtopnm, which do the least that a
# converter can. Bytes go to /dev/null through a pipe, as in a pipeline.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mib=256

gen noise 16384 16384 >8.pgm
gen --type=ushort noise 8192 16384 >16.pgm
pgmtoraw 8.pgm >8.nrrd
pgmtoraw 16.pgm >16.nrrd

rate() { # MiB per second from the table on stdin
	awk -v mib=$mib 'NR == 1 { print $0, "    MB/s"; next } { printf "%s %8.0f\n", $0, mib * 1.048576 / $2 }'
}

for bits in 8 16; do
	commands=("pgmtoraw=pgmtoraw $bits.pgm | cat >/dev/null" "rawtopnm=rawtopnm $bits.nrrd | cat >/dev/null"
		"rawinfo=rawinfo $bits.nrrd >/dev/null" "cat=cat $bits.pgm | cat >/dev/null")
	if command -v pamtopnm >/dev/null; then
		commands+=("pamtopnm=pamtopnm $bits.pgm | cat >/dev/null")
	else
		echo "pamtopnm: netpbm is not installed"
	fi
	echo "P5 of $mib MiB, $bits bits"
	interleave -n 5 "${commands[@]}" | rate
done

gen --type=float smooth 8192 8192 4 >f.nrrd
echo "floats of $mib MiB to 8 bits"
interleave -n 5 'minmax=rawtopnm f.nrrd | cat >/dev/null' 'p1:p99=rawtopnm --range=p1:p99 f.nrrd | cat >/dev/null' \
	'log=rawtopnm --log f.nrrd | cat >/dev/null' | rate
