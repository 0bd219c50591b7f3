#!/bin/bash
# Whole processes against Seismic Unix's suradon and Madagascar's sfradon, which no Debian package has: they are found on
# PATH, suradon built without XDR. All read the same files from the page cache and write to /dev/null. f2 of suradon is
# --fmax here; sfradon has no band and solves, but does not subtract.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export OMP_NUM_THREADS=1
lsq='radon --quiet -q -0.3:0.6:181 -X 4600 --fmax=80 --lsq --mute=0.05 --subtract'
sparse='radon --quiet -q -0.3:0.6:181 -X 4600 --sparse --mute=0.05'
su='suradon choose=1 offref=4600 pmin=-300 pmax=600 dp=5 pmula=50 pmulb=50 f1=70 f2=80 prewhite=0.1 nxmax=600'

have() {
	command -v "$1" >/dev/null || { echo "$1 is not on PATH" && return 1; }
}

# rsf FILE: its samples as Madagascar has them, beside their header.
rsf() {
	tail -c +$(($(rawinfo --skip "$1.nrrd") + 1)) "$1.nrrd" >"$1.bin"
	tail -c $((4 * $2 * $3)) "$1.bin" >"$1.tail" && mv "$1.tail" "$1.bin"
	printf 'in="%s/%s.bin"\ndata_format="native_float"\nesize=4\nn1=%s d1=0.004 o1=0\nn2=%s d2=%s o2=%s\n' \
		"$dir" "$1" "$2" "$3" "$4" "$4" >"$1.rsf"
}

gencmp --traces=92 --samples=1751 --gathers=1 >one.nrrd
gencmp --traces=92 --samples=1751 --gathers=8 >line.nrrd
for f in one line; do rawtosu --endian=little $f.nrrd >$f.su; done
rsf one 1751 92 50

echo "multiples removed from one gather of 92 traces of 1751 samples, 181 curves"
commands=("lsq, 1 thread=$lsq -t 1 one.nrrd >/dev/null" "SU to SU, 1 thread=sutoraw one.su | $lsq -t 1 | rawtosu --headers=one.su >/dev/null")
! have suradon || commands+=("suradon=$su <one.su >/dev/null")
! have sfradon || commands+=("sfradon, lsq panel alone=sfradon spk=n parab=y x0=4600 np=181 dp=0.005 p0=-0.3 eps=0.092 <one.rsf >/dev/null out=stdout")
interleave -n 5 "${commands[@]}"

echo "the same of a line of 8 gathers with equal offsets"
commands=("lsq, 2 threads=$lsq -t 2 line.nrrd >/dev/null" "lsq, 1 thread=$lsq -t 1 line.nrrd >/dev/null")
! have suradon || commands+=("suradon=$su <line.su >/dev/null")
interleave -n 3 "${commands[@]}"

echo "sparse panel of one gather"
commands=("sparse, 1 thread=$sparse -t 1 one.nrrd >/dev/null")
! have sfradon || commands+=("sfradon=sfradon parab=y x0=4600 np=181 dp=0.005 p0=-0.3 eps=0.092 <one.rsf >/dev/null out=stdout")
interleave -n 1 "${commands[@]}"

gencmp --traces=512 --samples=512 --step=10 >cube.nrrd
rsf cube 512 512 10
echo "adjoint 512x512x512"
commands=("radon, 1 thread=radon --quiet -t 1 -q -0.3:0.6:512 -X 5120 cube.nrrd >/dev/null")
! have sfradon || commands+=("sfradon=sfradon inv=n parab=y x0=5120 np=512 dp=0.00176 p0=-0.3 <cube.rsf >/dev/null out=stdout")
interleave -n 5 "${commands[@]}"
$WEIR_PYTHON -c 'import pylops' 2>/dev/null || echo "PyLops is not installed"
