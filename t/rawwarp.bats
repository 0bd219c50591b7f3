load lib

# rawwarp: pictures on the grid of another one, against samples by hand.

grid() { # 'W H' [LINE...]: an item on whose grid results are
	# shellcheck disable=SC2046 # samples are words
	item uchar "$1" "${@:2}" -- $(yes 1 | head -n $((${1/ /*})))
}

# on REF 'SAMPLES' [OPTION...] FILE: these are the samples of FILE on the grid.
on() {
	rawwarp --like="$1" "${@:3}" >on.nrrd
	diff <(rawtotext on.nrrd | paste -sd ' ') - <<<"$2"
}

@test "on its own grid a picture stays as it is, beside missing samples too, by any kernel and any number of threads" {
	rawmath --sizes=90,70 'x == 3 && y == 5 || y == 69 ? nan : x * 7 % 11 + y' >a
	for kernel in lanczos3 cubic linear nearest; do
		for t in 1 7; do rawwarp --like=a --kernel=$kernel -t $t a >b && rawtonpy b | cmp - <(rawtonpy a); done
		rawwarp --like=a --kernel=$kernel --flux b | rawtonpy | cmp - <(rawtonpy a)
	done
	rawwarp --like=a a a | cmp - <(rawwarp --like=a a && rawwarp --like=a a)
}

@test "places are positions along the axes; what is outside or touched by a missing sample is missing" {
	item short '5 1' 'spacings: 2 1' 'axis mins: 10 0' 'labels: "u" ""' -- 1 5 9 7 3 >a
	grid '4 1' 'spacings: 3 1' 'axis mins: 9 0' 'labels: "v" ""' >ref
	on ref 'nan 5 8 3' --kernel=linear a
	says 'type: float' 'spacings: 3 1' 'axis mins: 9 0' 'labels: "v" ""' <on.nrrd
	grid '4 1' 'spacings: 2 1' 'axis mins: 11 0' >ref
	on ref '3 7 8 5' --kernel=linear a
	on ref 'nan 7.375 8.5 nan' --kernel=cubic a
	on ref '3 7 nan nan' --kernel=linear <(rawmath 'a == 7 ? nan : a' a)
	on ref '3 nan nan 5' --kernel=linear <(sed 's/^endian/nodata:=9\n&/' a)
	says nodata:=nan <on.nrrd
}

@test "nearest keeps type and samples, also of 64 bits; outside is the value of missing samples, or 0" {
	rawmath --sizes=3,1 --type=uint64 '9007199254740992 + 2 * x' | rawaxes --flip=0 >a
	grid '4 1' 'axis mins: 1.4 0' >ref
	on ref '9007199254740994 9007199254740992 0 0' --kernel=nearest a
	says 'type: uint64' <on.nrrd
	on ref '9 5 5 5' --kernel=nearest <(item uchar '3 1' maxval:=9 nodata:=5 -- 7 9 5)
	says 'type: uchar' maxval:=9 nodata:=5 <on.nrrd
}

@test "a map goes onto a coarser one, in all planes and pictures; --flux keeps the sum" {
	rawmath --sizes=4,4 'x + 10 * y' | sed 's/^endian/geotransform:=100 5 0 50 0 -5\ncrs:=EPSG:32633\n&/' >a
	sed 's/32633/4326/' a >other
	grid '3 2' 'geotransform:=100 10 0 50 0 -10' crs:=EPSG:32633 >ref
	on ref '5.5 7.5 nan 25.5 27.5 nan' --kernel=linear a
	says 'geotransform:=100 10 0 50 0 -10' 'sizes: 3 2' <on.nrrd
	on ref '22 30 nan 102 110 nan' --kernel=linear --flux a
	rawstack --planes a <(rawmath 'a + 100' a) >planes
	on ref '5.5 105.5 7.5 107.5 nan nan 25.5 125.5 27.5 127.5 nan nan' --kernel=linear planes
	rawstack a <(rawmath 'a + 100' a) >stack
	on ref '5.5 7.5 nan 25.5 27.5 nan 105.5 107.5 nan 125.5 127.5 nan' --kernel=linear stack
	fails 1 'its coordinate system is another one: crs:=EPSG:4326, but EPSG:32633 in REF' rawwarp --like=ref other
	fails 1 'its places are on a map, but those of REF are positions along the axes' rawwarp --like=<(grid '3 2') a
}

@test "a step of many samples, and a result beyond floats" {
	rawmath --sizes=900,700 'x + 1000 * y' >a
	grid '2 2' 'spacings: 500 600' 'axis mins: 100.5 50' >ref
	on ref '50100.5 50600.5 650100.5 650600.5' a
	grid '2 2' 'spacings: 2 2' >ref
	fails 1 'a result is out of the range of floats' rawwarp --like=ref --flux -o b <(rawmath --sizes=9,9 3e38)
}

# sky FILE CARD...: the FITS item with these cards, each NAME=VALUE.
sky() {
	local cards=("${@:2}")
	rawtofits "$1" | fitstoraw | sed "0,/^fits.NAXIS:/s//$(printf 'fits.%s\\n' "${cards[@]/=/:=}")&/"
}

@test "FITS cards place pictures in the sky; those of the result are of REF, and the others of the input" {
	tan=("CTYPE1='RA---TAN'" "CTYPE2='DEC--TAN'" CRVAL1=359.999 CRVAL2=60.0 CRPIX2=3.0 CDELT1=-0.001 CDELT2=0.001)
	rawmath --sizes=6,5 'x + 10 * y' >a
	sky a "${tan[@]}" CRPIX1=3.0 EXPTIME=30.0 >new
	sky a "${tan[@]}" CRPIX1=1.0 EXPTIME=60.0 >ref
	on ref "$(rawmath --sizes=6,5 'x > 3 ? nan : x + 2 + 10 * y' | rawtotext | paste -sd ' ')" new
	says fits.CRPIX1:=1.0 fits.EXPTIME:=30.0 <on.nrrd
	# In the result, columns go north and rows west.
	sky a "${tan[@]:0:5}" CRPIX1=3.0 CD1_1=0.0 CD1_2=0.001 CD2_1=0.001 CD2_2=0.0 >turned
	on turned "$(rawmath --sizes=6,5 'x > 4 ? nan : 4 - y + 10 * x' | rawtotext | paste -sd ' ')" --kernel=nearest new
	fails 1 'places are RA DEC J1975, but those of REF are RA DEC J2000' rawwarp --like=ref <(sky a "${tan[@]}" CRPIX1=3.0 "RADESYS='FK5'" EQUINOX=1975.0)
	fails 1 'its cards give no places in the sky: ' rawwarp --like=ref <(sky a "${tan[@]/TAN/XXX}" CRPIX1=3.0)
}

@test "what is no picture of columns and rows is refused, and wrong usage named" {
	grid '3 2' >ref
	fails 1 'it has no columns and rows' rawwarp --like=ref <(item uchar 3 -- 1 2 3)
	fails 1 'it has no columns and rows' rawwarp --like=<(item uchar 3 -- 1 2 3) ref
	fails 1 'it lies in a space' rawwarp --like=ref <(item uchar '3 1' 'space dimension: 2' 'space directions: (1,0) (0,1)' -- 1 2 3)
	fails 2 --kernel rawwarp --like=ref --kernel=sinc ref
	fails 2 --like rawwarp ref
}
