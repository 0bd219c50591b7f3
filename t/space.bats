load lib

# The space in which an item lies: NRRD's space, space directions, space origin, space units and measurement frame.

# volume X Y Z: bytes in a space, with axes that are not parallel to those of the space.
volume() {
	item uchar "$1 $2 $3" 'space: left-posterior-superior' 'space units: "mm" "mm" "mm"' \
		'space directions: (2,0.5,0) (-0.5,2,0) (0,0.25,3)' 'space origin: (-10,20,30)' \
		'measurement frame: (0,1,0) (1,0,0) (0,0,1)' -- $(seq $(($1 * $2 * $3)))
}

# lies DIRECTIONS ORIGIN: the item on stdin has these fields.
lies() {
	lines <(rawinfo | grep '^space [do]') "space directions: $1/space origin: $2"
}

@test "filters that keep the places of samples keep the space" {
	volume 4 3 2 >a
	rawinfo a | grep -E '^(space|measurement)' >want
	[ "$(wc -l <want)" -eq 5 ]
	pgm 1 1 1 1 >k
	for filter in 'morphrec --open=1' 'rawmath a+1' 'rawlabel' 'wconv -k k' 'rawtile --grid=1x1' \
		'rawstack --combine=max' 'rawdist' 'emst -k 2 --to=labels' 'rawaxes'; do
		$filter a | rawinfo | grep -E '^(space|measurement)' | diff - want
	done
}

@test "an axis with a direction has no spacing beside it, which other readers refuse" {
	volume 4 3 2 >a
	run -1 grep -aE '^(spacings|axis mins|centers)' <(rawaxes a)
	item uchar '2 2' 'space dimension: 2' 'space directions: none (3,4)' 'spacings: 7 nan' -- 1 2 3 4 | rawaxes >b
	says 'spacings: 7 nan' 'space directions: none (3,4)' <b
	run -1 grep -a '^space origin' b
}

@test "a cut moves the origin, a flip negates a direction, and directions follow their axes" {
	volume 4 3 2 >a
	rawaxes --crop=0:1:3 --crop=1:2:3 a | lies '(2,0.5,0) (-0.5,2,0) (0,0.25,3)' '(-9,24.5,30)'
	rawaxes --flip=0 a | lies '(-2,-0.5,0) (-0.5,2,0) (0,0.25,3)' '(-4,21.5,30)'
	rawaxes --flip=0 a | rawaxes --flip=0 | lies '(2,0.5,0) (-0.5,2,0) (0,0.25,3)' '(-10,20,30)'
	rawaxes --order=2,0,1 a | lies '(0,0.25,3) (2,0.5,0) (-0.5,2,0)' '(-10,20,30)'
	rawaxes --slice=1:2 a | lies '(2,0.5,0) (0,0.25,3)' '(-11,24,30)'
}

@test "a convolution, parts and shares lie where their samples lie" {
	volume 6 5 2 >a
	pgm 3 3 1 1 1 1 1 1 1 1 1 1 >k
	wconv -k k a >b
	lies '(2,0.5,0) (-0.5,2,0) (0,0.25,3)' '(-10,20,30)' <b
	for i in 0 1 2; do wconv -k k --part=$i/3 a >share.$i; done
	rawjoin share.? | cmp - b
	rawtile --grid=2x1 a >parts
	rawinfo parts | grep -x 'space origin: (-4,21.5,30)'
	rawjoin parts | lies '(2,0.5,0) (-0.5,2,0) (0,0.25,3)' '(-10,20,30)'
}

@test "a stack that is split and put together lies where it lay" {
	volume 2 2 3 >a
	rawstack --split a >b
	lines <(rawinfo b | grep '^space origin') 'space origin: (-10,20,30)/space origin: (-10,20.25,33)/space origin: (-10,20.5,36)'
	rawstack b | lies '(2,0.5,0) (-0.5,2,0) (0,0.25,3)' '(-10,20,30)'
	rawaxes --flip=0 a | rawaxes --slice=2:0 >d
	rawaxes --slice=2:0 a | cat - d >e
	hints 'rawstack: the items do not lie at even distances in one space' rawstack e >f
	lies '(2,0.5,0) (-0.5,2,0) none' '(-10,20,30)' <f
	rawstack <(rawaxes --slice=2:0 a) <(rawaxes --slice=2:0 a) | lies '(2,0.5,0) (-0.5,2,0) none' '(-10,20,30)'
}

@test "formats that do not hold the space say so; it stands in JSON" {
	volume 4 3 2 >a
	remarks 'rawtofits: a: item 1: FITS does not hold the space origin and directions; they are left out' rawtofits a >/dev/null
	remarks 'rawtotiff: a: item 1: TIFF does not hold the space origin and directions; they are left out' rawtotiff a >/dev/null
	rawinfo --json a >json
	grep -F '"direction": [2, 0.5, 0]}' json
	grep -F '"direction": [0, 0.25, 3]}], "origin": [-10, 20, 30], "space": "space: left-posterior-superior\u000a' json
	pgm 1 1 1 1 | rawinfo --json | grep -F '"direction": null}], "origin": null, "space": null,'
}

@test "a malformed space is refused" {
	fails 1 'vector (a,b,c) or none for each axis' rawinfo <(item uchar '2 1' 'space directions: (1,0)' -- 1 2)
	fails 1 'vector (a,b,c) or none for each axis' rawinfo <(item uchar '2 1' 'space directions: (1,0) (1,0,0)' -- 1 2)
	fails 1 'vector (a,b,c) or none for each axis' rawinfo <(item uchar '2' 'space directions: (1,2,3,4,5,6,7,8,9)' -- 1 2)
	fails 1 'more vectors' rawinfo <(item uchar '2' 'space directions: (1,0) (0,1)' -- 1 2)
	fails 1 'space origin must be' rawinfo <(item uchar '2' 'space origin: 1 2' -- 1 2)
	fails 1 'space origin must be' rawinfo <(item uchar '2' 'space directions: (1,0)' 'space origin: (1,2,3)' -- 1 2)
	fails 1 "field 'space units' stands twice" rawinfo <(item uchar '2' 'space units: "a"' 'space units: "a"' -- 1 2)
}
