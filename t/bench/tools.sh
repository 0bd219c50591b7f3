#!/bin/bash
# The small programs beside what users have: rawmath beside NumPy and unu, rawlabel beside SciPy, scikit-image and OpenCV,
# rawdist beside SciPy and OpenCV, fitstoraw and tifftoraw beside Astropy and tifffile. All are whole commands that read files
# and write one.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
cd "$dir"

# peers MODULE NAME: the command of tools_peers.py NAME, if Python has that module.
commands=()
peers() {
	if $WEIR_PYTHON -c "import $1" 2>/dev/null; then
		commands+=("$1 $2=$WEIR_PYTHON $here/tools_peers.py $2")
	else
		echo "$1: not installed"
	fi
}

gen --type=float --seed=1 noise 4096 4096 >a.nrrd
gen --type=float --seed=2 noise 4096 4096 >b.nrrd
rawtonpy -o a.npy a.nrrd
rawtonpy -o b.npy b.nrrd
echo 'rawmath: two pictures of 4096x4096 floats'
for what in 'a - b' '(a - b) / sqrt(a * a + b * b + 1)'; do
	commands=("rawmath $what=rawmath '$what' a.nrrd b.nrrd >o.nrrd" "rawmath -t 1=rawmath -t 1 '$what' a.nrrd b.nrrd >o.nrrd")
	[ "$what" != 'a - b' ] || for unu in unu teem-unu; do
		command -v $unu >/dev/null && commands+=("$unu 2op=$unu 2op - a.nrrd b.nrrd -o o.nrrd") && break
	done
	peers numpy "$([ "$what" = 'a - b' ] && echo difference || echo ratio)"
	interleave -n 5 -b 'rm -f o.*' "${commands[@]}"
done

rawmath --type=uchar 'a > .5' a.nrrd | rawtonpy -o noise.npy
gen smooth 4096 4096 8 | rawmath --type=uchar 'a > 128' - | rawtonpy -o smooth.npy
for picture in noise smooth; do
	echo "rawlabel: labels of $picture, 4096x4096, half of it chosen, 8 neighbours"
	cp $picture.npy c.npy
	commands=("rawlabel=rawlabel c.npy >o.nrrd")
	peers scipy label
	peers skimage label-skimage
	peers cv2 label-cv2
	interleave -n 3 -b 'rm -f o.*' "${commands[@]}"
	echo "rawlabel: the table of $picture"
	commands=("rawlabel csv=rawlabel --to=csv c.npy >o.csv")
	peers cv2 table-cv2
	interleave -n 3 -b 'rm -f o.*' "${commands[@]}"
done

gen smooth 2048 2048 8 | rawmath --type=uchar 'a > 110' - | rawtonpy -o c.npy
echo 'rawdist: distances of 2048x2048'
commands=("rawdist=rawdist c.npy >o.nrrd" "rawdist -t 1=rawdist -t 1 c.npy >o.nrrd")
peers scipy distance
peers cv2 distance-cv2
interleave -n 3 -b 'rm -f o.*' "${commands[@]}"

echo 'rawnmo: 8 gathers of 92 traces of 1751 samples, from SU to SU, beside sunmo of SU, built without XDR'
gencmp --traces=92 --samples=1751 --gathers=8 | rawtosu --endian=little -o line.su
commands=("rawnmo=sutoraw line.su | rawnmo --velocity=0:1500,4:3000 | rawtosu --headers=line.su >o.su" "rawnmo -t 1=sutoraw line.su | rawnmo -t 1 --velocity=0:1500,4:3000 | rawtosu --headers=line.su >o.su")
if command -v sunmo >/dev/null; then
	commands+=("sunmo=sunmo tnmo=0,4 vnmo=1500,3000 sscale=0 <line.su >o.su")
else
	echo 'sunmo: not on PATH'
fi
interleave -n 5 -b 'rm -f o.*' "${commands[@]}"

gen --type=ushort noise 8192 8192 >c.pgm
if command -v fitstoraw >/dev/null; then
	echo 'fitstoraw, rawtofits: 8192x8192 ushort'
	rawtofits -o c.fits c.pgm
	commands=("fitstoraw=fitstoraw c.fits >o.nrrd" "rawtofits=rawtofits c.pgm >o.fits" "cp=cp c.fits o.fits")
	peers astropy fits
	interleave -n 3 -b 'rm -f o.*' "${commands[@]}"
fi
if command -v tifftoraw >/dev/null; then
	echo 'tifftoraw, rawtotiff: 8192x8192 ushort'
	rawtotiff -o c.tif c.pgm
	commands=("tifftoraw=tifftoraw c.tif >o.nrrd" "rawtotiff=rawtotiff c.pgm >o.tif" "cp=cp c.tif o.tif")
	peers tifffile tiff
	interleave -n 3 -b 'rm -f o.*' "${commands[@]}"
fi
