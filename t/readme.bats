load lib

# README.md: what it tells a newcomer to type is typed here, on small files of those names.

# block HEADING: the code of that section.
block() {
	sed -n "/^## $1\$/,/^## [^$1]/s/^    //p" "$root/README.md"
}

types() {
	bash -o pipefail -c "$1" >stdout 2>stderr || { echo "$1: exit $?" && cat stdout stderr && return 1; }
}

# zeros SIZES LINE ...: a raw item of bytes, on which rawmath computes an expression of x, y and z.
zeros() {
	item uchar "$@" --
	head -c $((${1// /*})) /dev/zero
}

# psf.nrrd is a sheet of 8x8 kernels, wider to the right; blurred.ppm points on a grid.
blurred() {
	zeros '264 264' | rawmath 'exp(-((x % 33 - 16)^2 + (y % 33 - 16)^2) / (2 + x / 33))' >psf.nrrd
	zeros '3 96 64' 'kinds: RGB-color domain domain' | rawmath '20 + 200 * (x % 24 == 9 && y % 16 == 7)' |
		wconv -k psf.nrrd --grid=8x8 --normalise --edge=nearest | rawmath --type=uchar a | rawtopnm >blurred.ppm
}

greatest() {
	rawinfo "$1" | awk '/^max:/ { print int($2) }'
}

@test "the first command sharpens" {
	blurred
	types "$(sed -n '/^!\[/,/^\[Install/s/^    //p' "$root/README.md")"
	[ "$(greatest sharp.nrrd)" -gt $((2 * $(greatest blurred.ppm))) ]
}

files_of_recipes() {
	zeros '192 128' | rawmath --type=uchar '40 + x / 8 + 120 * (hypot(x % 64 - 32, y % 64 - 32) < 20)' | rawtopnm >coins.pgm
	gen --type=ushort stars 160 160 20 | rawtofits -o sky.fits
	zeros '192 128' | rawmath '100 + 1000 * exp(-((x % 23.3 - 11)^2 + (y % 19.7 - 9)^2) / 3)' >ref.nrrd
	echo 1 2 1 2 4 2 1 2 1 | texttoraw --sizes=3,3 | wconv -k - --normalise --edge=nearest ref.nrrd | rawtofits -o new.fits
	rawtofits -o ref.fits ref.nrrd
	zeros '24 20 8' | rawmath --type=ushort '100 + 5000 * (hypot(x - 12, y - 10) < 3 && abs(z - 4) < 2)' | rawtotiff -o stack.tif
	zeros '5 5 3' | rawmath 'exp(-((x - 2)^2 + (y - 2)^2) / 3 - (z - 1)^2)' | rawtotiff -o psf.tif
	zeros '192 128' 'geotransform:=500000 10 0 4000000 0 -10' crs:=EPSG:32633 |
		rawmath --type=uchar 'abs(y - 60 - 20 * sin(x / 20)) < 2 ? 30 : 120' | rawtotiff -o map.tif
	zeros '2 40 30' 'kinds: vector domain domain' | rawmath --type=uchar '20 + 100 * (x > 20)' | rawtotiff -o bands.tif
	awk 'BEGIN { for (a = 0; a < 40; a++) for (r = -16; r < 16; r++)
		print r / 32 * cos(a * atan2(0, -1) / 40), r / 32 * sin(a * atan2(0, -1) / 40) }' | texttoraw | rawtonpy >k.npy
	pgmramp -ellipse 32 32 | usfft -T 2 -p k.npy | rawtonpy >signal.npy
	gencmp --traces=48 --step=62.5 | rawtosegy >gather.sgy
	pgmtoppm white coins.pgm | pnmtojpeg -quiet >photo.jpg
	rawtopng coins.pgm >photo.png
	printf 'x,y,value\n.1,.2,1\n-.3,.1,2\n' >points.csv
}

@test "every recipe makes its file" {
	files_of_recipes
	sed -n '/^| You have/,/^$/s/^|[^`]*`\(.*\)` |$/\1/p' "$root/README.md" | sed 's/\\|/|/g' >recipes
	[ "$(wc -l <recipes)" -ge 9 ]
	while IFS= read -r recipe; do
		types "$recipe" </dev/null
		made=${recipe##*[ >]}
		[ -s "$made" ] || { echo "$recipe: no $made" && false; }
	done <recipes
	[ "$(wc -l <coins.csv)" -eq 7 ]
	[ "$(wc -l <sources.csv)" -gt 10 ]
	fitstoraw change.fits | rawinfo | awk '/^max:/ { exit !($2 < 1) }'
	tifftoraw sharp.tif | rawinfo | grep '^sizes: 24 20 8'
	grep LineString river.json
	[ "$(tifftoraw classes.tif | greatest -)" -eq 2 ]
	rawmath 'abs(a - b)' image.pgm <(pgmramp -ellipse 32 32) | rawinfo | awk '/^max:/ { exit !($2 < 30) }'
	[ "$(wc -c <clean.sgy)" -eq "$(wc -c <gather.sgy)" ] && ! cmp -s clean.sgy gather.sgy
	pngtoraw photo.png | rawinfo | grep '^sizes:.* 192 128$'
}

@test "five lines of Python give an array of labels" {
	python=
	for each in $(type -ap python3); do ! "$each" -c 'import numpy' 2>/dev/null || python=$each; done
	[ -n "$python" ] || skip 'Python has no NumPy here'
	{
		block 'From Python'
		echo 'picture = 50 + 100 * (np.hypot(*np.mgrid[-40:41, -60:61]) < 15).astype(np.uint8)'
		sed -n 's/^Then `\(weir(.*)\)` is an array.*/labels = \1/p' "$root/README.md"
		echo 'assert labels.shape == (81, 121) and labels[40, 60] == 1 and labels[0, 0] == 0, labels'
		echo 'try: weir("rawmath +", picture)'
		echo 'except subprocess.CalledProcessError: print("refused")'
	} >five.py
	same <("$python" five.py 2>stderr) refused
}

@test "on a cluster: shares join to the bytes of one run" {
	blurred
	block 'On a cluster' >lines
	bash -n lines
	types "$(grep xargs lines)"
	wconv -k psf.nrrd --grid=8x8 blurred.ppm | cmp - whole.nrrd
	for script in $(grep -oE 't/demo[a-z./]*' lines); do [ -e "$root/$script" ]; done
}

@test "the table has every program, the links lead to files, and one reads it in a minute" {
	sed -n '/^## All programs/,/^## Cite/s/^| \(`[^|]*\)|.*/\1/p' "$root/README.md" | grep -oE '[a-z]+' | sort >named
	find "$B" -maxdepth 1 -type f -perm -u+x -printf '%f\n' | sort | diff named -
	grep -oE '\]\([^)]*\)' "$root/README.md" | tr -d '])(' | while IFS= read -r link; do
		[[ $link == '#'* ]] || [ -e "$root/$link" ] || { echo "no $link" && false; }
	done
	[ "$(wc -l <"$root/README.md")" -le 130 ]
}
