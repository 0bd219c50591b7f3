#!/bin/bash
# What each table of vector loops gains: a command that spends its time in one table, at each level that this CPU has, as
# multiples of the time without AVX. t/check compares the same tables with the definitions at each level.
source "$(dirname "$0")/seeds.bash"

# level_times TABLE COMMAND: the levels in turn.
level_times() {
	local commands=() level
	for level in generic avx2 avx512; do
		WEIR_CPU=$level wconv --version | grep -qw "$level" || continue
		commands+=("$level=WEIR_CPU=$level $2 >/dev/null")
	done
	echo "$1: $2"
	interleave -n 5 "${commands[@]}"
}

colours 300000 >colours.ppm
colours 10000 >few.ppm
gen noise 5000 5000 >noise.pgm
gen --type=float noise 5000 5000 >floats.nrrd
gen kernels 7 1 1 >small.nrrd
gen kernels 31 1 1 >large.nrrd
scores 128 129 >volume.nrrd
scores 9 10 >cube.nrrd
gen --type=float noise 4 1000000 | sed '1,/^$/{ s/^encoding: raw/&\ncolumns:=x y re im/ }' >points.nrrd
gencmp --traces=60 --samples=1000 --gathers=8 >gathers.nrrd
level_times wconv/core 'wconv -t 1 -k large.nrrd floats.nrrd'
level_times 'wconv/core, direct' 'wconv -t 1 -k small.nrrd noise.pgm'
level_times wconv/volume 'wconv -t 1 -k cube.nrrd volume.nrrd'
level_times usfft/loops 'usfft -t 1 -T 1 -n 512,512 points.nrrd'
level_times radon/loops 'radon -t 1 --quiet -q -.1:.2:101 -X 1000 --lsq gathers.nrrd'
level_times emst/kd 'emst -t 1 --points points.nrrd'
level_times 'emst/kd, brute' 'emst -t 1 --method=brute few.ppm'
level_times emst/rawpalette 'rawpalette -t 1 --colours=256 colours.ppm'
level_times morphrec/tile 'morphrec -t 1 --fill-holes noise.pgm'
