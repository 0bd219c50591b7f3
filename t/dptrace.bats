load lib

# paint WIDTH HEIGHT MAXVAL EXPRESSION [STATEMENTS]: a PGM of what EXPRESSION is at x, y, after the statements, on stdout.
paint() {
	awk "BEGIN { print \"P2 $1 $2 $3\"; for (y = 0; y < $2; y++) for (x = 0; x < $1; x++) { ${5:-}; print ($4) } }"
}

# A picture of a bright road, a sine of 6 pixels about y = 20, and its two ends.
prepare() {
	paint 80 40 9 '(y - 20 - 6 * sin(x / 13)) ^ 2 < 3 ? 9 : 1' >road.pgm
	ends='-p 5,22 -p 75,17'
}

# near MOST [Y [LEAST]]: the polyline on stdin, in text, is nowhere more than MOST pixels from the road, or from Y, a formula in x, and
# has LEAST vertices, or 2.
near() {
	awk "{ x = \$1; d = \$2 - (${2:-20 + 6 * sin(x / 13)}); if (d * d > $1 * $1) bad = 1; n++ } END { exit bad || n < ${3:-2} }"
}

# tables D N VALUE...: link scores of sizes D D N-1.
tables() {
	item float "$1 $1 $(($2 - 1))" -- "${@:3}"
}

@test "a bright road is met to a pixel, a dark one too" {
	for o in "" --score=ridge+ "-d 40" "--objective=sum -d 40"; do
		dptrace $ends $o road.pgm | near 1
	done
	awk 'NR == 1; NR > 1 { print 10 - $1 }' road.pgm >dark.pgm
	dptrace $ends --score=ridge- dark.pgm | near 1
	dptrace $ends dark.pgm | near 1
}

@test "a dark road is followed from points that lie on bright spots" {
	for spot in "3 1.5 8" "2 1 9"; do
		set -- $spot
		paint 80 40 9 v "v = (y - 20 - 6 * sin(x / 13)) ^ 2 < 3 ? 2 : 5
			if ((x - 5) ^ 2 + (y - 22 - $2) ^ 2 < $1 || (x - 75) ^ 2 + (y - 17 - $2) ^ 2 < $1) v = $3" >spots.pgm
		dptrace $ends spots.pgm | near 1.2
		run -1 near 3 < <(dptrace $ends --score=ridge+ spots.pgm)
	done
}

@test "with --snap=0 the given points are on the polyline, by default they may move" {
	dptrace --snap=0 $ends road.pgm >out
	[ "$(head -n 1 out)" = "5.000 22.000" ]
	[ "$(tail -n 1 out)" = "75.000 17.000" ]
	# the road passes 5 at 22.25 and 75 at 17.07, the points are 2 px beside it
	dptrace -p 5,24 -p 40,19 -p 75,15 road.pgm >out
	near 1 <out
	awk 'NR == 1 { if (($1 - 5) ^ 2 + ($2 - 24) ^ 2 > 4.01) exit 1 }
		{ x = $1; y = $2 } END { exit (x - 75) ^ 2 + (y - 15) ^ 2 > 4.01 }' out
	dptrace --snap=0 -p 5,24 -p 40,19 -p 75,15 --to=csv road.pgm | grep -q ',40.000,19.000,.*,1,0$'
}

@test "edge+ keeps the brighter side on the right, edge- on the left; edge finds a colour edge without a gray one" {
	paint 60 40 9 'y < 15 ? 1 : y < 26 ? 8 : 1' >band.pgm
	dptrace -p 5,20 -p 55,20 --score=edge+ -n 5 -w 12 band.pgm | sed -n 3p | awk '{ exit !($2 > 13 && $2 < 16) }'
	dptrace -p 5,20 -p 55,20 --score=edge- -n 5 -w 12 band.pgm | sed -n 3p | awk '{ exit !($2 > 24 && $2 < 27) }'
	awk 'BEGIN { print "P3 60 40 9"; for (y = 0; y < 40; y++) for (x = 0; x < 60; x++)
		print (y < 17 ? "8 2 5" : "2 8 5") }' >hue.ppm
	dptrace -p 5,20 -p 55,20 --score=edge -n 5 -w 12 hue.ppm | sed -n 3p | awk '{ exit !($2 > 16 && $2 < 17) }'
}

@test "8 bits, 16 bits and colour give the same polyline, and so does each picture of a stream" {
	dptrace $ends road.pgm >want
	pgmtoraw road.pgm road.pgm | dptrace $ends | diff <(cat want; echo; cat want) -
	awk 'NR == 1 { print "P2 80 40 65535" } NR > 1 { print $1 * 7000 }' road.pgm | dptrace $ends | diff want -
	awk 'NR == 1 { print "P3 80 40 9" } NR > 1 { print $1, $1, $1 }' road.pgm | dptrace $ends | diff want -
}

@test "-f takes comments, tabs, CRLF and empty lines, also from standard input when the picture is a file" {
	printf '# two halves\n\n5 22\t41 20 # west\r\n41 20 75 17' >lines
	dptrace -p 5,22 -p 41,20 --to=wkt road.pgm >want
	dptrace -p 41,20 -p 75,17 --to=wkt road.pgm >>want
	dptrace -f lines --to=wkt road.pgm | diff want -
	dptrace -f - --to=wkt road.pgm <lines | diff want -
}

@test "a polyline stays in the picture, also where it is one row or column high" {
	awk 'BEGIN { srand(7); print "P2 90 1 255"; for (x = 0; x < 90; x++) print int(256 * rand()) }' >row.pgm
	awk 'NR == 1 { print "P2 1 90 255" } NR > 1' row.pgm >column.pgm
	awk 'BEGIN { srand(8); print "P2 90 30 255"; for (i = 0; i < 2700; i++) print int(256 * rand()) }' >noise.pgm
	for way in --objective=sum --objective=cost --score=edge --score=sin; do
		dptrace --quiet -p 2,0 -p 87,0 $way row.pgm | awk '$1 < -.5 || $1 > 89.5 || $2 < -.5 || $2 > .5 { exit 1 }'
		dptrace --quiet -p 0,2 -p 0,87 $way column.pgm | awk '$2 < -.5 || $2 > 89.5 || $1 < -.5 || $1 > .5 { exit 1 }'
		dptrace --quiet -p 2,0 -p 87,0 $way noise.pgm | awk '$2 < -.5 || $2 > 29.5 { exit 1 }'
	done
}

@test "points given in reverse order, or a mirrored picture, give the same polyline" {
	# every pixel differs, so that no two polylines are equally good
	gen_dptrace line 1 5 >line.nrrd
	ends=$(gen_dptrace line 1 5 2)
	set -- $ends
	dptrace -p $1,$2 -p $3,$4 --objective=sum line.nrrd >there
	dptrace -p $3,$4 -p $1,$2 --objective=sum line.nrrd | tac >back
	diff there back
	rawaxes --flip=0 line.nrrd >mirrored.nrrd
	ends=$(awk '{ print "-p", 511 - $1 "," $2, "-p", 511 - $3 "," $4 }' <<<"$ends")
	dptrace $ends --objective=sum mirrored.nrrd | awk '{ printf "%.3f %.3f\n", 511 - $1, $2 }' | diff there -
}

@test "the angle holds at a point in between; where no polyline keeps it, it is given up, with a warning" {
	paint 60 60 1 1 >flat.pgm
	dptrace --quiet -p 5,30 -p 30,30 -p 30,55 -a 50 -w 20 flat.pgm | awk '
		NR > 2 { c = (x - u) * ($1 - x) + (y - v) * ($2 - y); s = (x - u) * ($2 - y) - (y - v) * ($1 - x)
			a = atan2(s < 0 ? -s : s, c); if (a > 50.01 * atan2(0, -1) / 180) bad = 1 }
		{ u = x; v = y; x = $1; y = $2 } END { exit bad }'
	hints 'keeps the angle at point 1' dptrace -p 5,22 -p 40,20 -p 6,30 -n 2 -a 30 road.pgm >out
	lines out '5.000 22.000/40.000 20.000/6.000 30.000'
}

@test "points in an area without lines are warned of, points on a line beside it are not" {
	# a disc with dark lines at x = 61 and 101; outside the disc the picture is constant
	paint 160 120 255 '(x - 150) ^ 2 + (y - 60) ^ 2 > 12100 ? 8 : ((x - 20) % 40 < 3 ? 60 : 120) + (x * 7 + y * 13) % 5' >field.pgm
	dptrace -f <(printf '20 10 20 110\n10 20 100 60\n30 5 30 115\n61 5 61 115\n') --stats field.pgm >/dev/null 2>err
	grep 'hardly any evidence in segment 0: ' err | cut -d: -f3 >got
	same got "$(printf ' line %d\n' 0 1 2)"
	run -1 grep -q 'line 3:' err
	grep -q '"unsupported": 3[,}]' err
	dptrace --objective=cost -p 10,20 -p 100,60 field.pgm 2>&1 >/dev/null | grep -q 'hardly any evidence in segment 0: '
	dptrace -p 61,5 -p 61,60 -p 10,60 field.pgm 2>&1 >/dev/null | grep -q 'hardly any evidence in segment 1: '
}

@test "an edge is traced in a part as in the whole, whatever is far away" {
	# a weak wavy edge above a strong straight one; from x = 800 on, stripes of full contrast
	for w in 760 1200; do
		paint $w 120 255 'x < 800 ? (y > 50 + 8 * sin(x / 30) ? 18 : 0) + (y > 85 ? 70 : 0) + (x * 7 + y * 13) % 5 : x % 8 < 4 ? 0 : 255' >$w.pgm
		dptrace --score=edge --objective=cost -p 20,55 -p 200,52 $w.pgm >$w
	done
	cmp 1200 760
	near 1 '50 + 8 * sin(x / 30)' 6 <./1200
}

@test "points beside a line lead to it and not to its flank, or there is a warning" {
	paint 160 90 9 '(y - 40 - 10 * sin(x / 30)) ^ 2 < 64 ? 8 : 2' >wide.pgm
	paint 160 90 99 '(y - 40 - 10 * sin(x / 30)) ^ 2 < 2.3 ? 90 : 20' >thin.pgm
	paint 160 90 99 '(d = y - 40 - 10 * sin(x / 30)) ^ 2 < 9 ? 90 : d > 0 ? 50 : 20' >unequal.pgm
	# points 0 to 6 px beside the middle, at x = 10 and 150; what is said of flanks, and whether the line was met
	for beside in 0 2 4 6; do
		for o in "wide " "thin " "unequal " "wide -s 8" "thin --score=ridge+" "wide -s 2" "thin --score=ridge-"; do
			dptrace -p 10,$((43 + beside)) -p 150,$((30 + beside)) ${o#* } "${o%% *}.pgm" >out 2>warnings
			dptrace --quiet -p 10,$((43 + beside)) -p 150,$((30 + beside)) ${o#* } "${o%% *}.pgm" | cmp - out
			echo "$beside $o $(grep -c 'a flank or an edge' warnings || true) $(awk '{ d = $2 - 40 - 10 * sin($1 / 30); s += d < 0 ? -d : d } END { print s / NR < 1 }' out)"
		done
	done >said
	# only what the options make impossible is wrong, and warned of
	same <(grep -v ' 0 1$' said) "$(printf '%d wide -s 2 1 0\n%d thin --score=ridge- 1 0\n' 0 0 2 2 4 4 6 6)"
	dptrace -p 10,46 -p 150,33 --score=edge wide.pgm 2>&1 >out | run -1 grep flank
	dptrace --stats=s.json --quiet -s 2 -p 10,49 -p 150,36 wide.pgm >out
	grep -q '"turned": 0, "flank": 1, ' s.json
	# also of more than 256 points
	paint 6300 50 9 '(y - 25 - 8 * sin(x / 60)) ^ 2 < 20 ? 8 : 2' >long.pgm
	seq 10 24 6230 | awk '{ printf "%d %.1f ", $1, 28.5 + 8 * sin($1 / 60) }' >long
	[ -z "$(dptrace -o out -f long long.pgm 2>&1)" ]
	awk '{ d = $2 - 25 - 8 * sin($1 / 60); s += d < 0 ? -d : d } END { exit s / NR > 1 }' out
}

@test "an edge whose brighter side changes is warned of where another course may be the right one" {
	# turns: one edge changes sides. shelf: two edges are brighter on different sides, and part of the way lies between them
	paint 200 80 9 '(y < 40) == (x < 100) ? 1 : 9' >turns.pgm
	paint 200 80 9 'y < 40 ? 1 : 9' >step.pgm
	paint 200 80 9 '(x < 85 ? y >= 30 : x > 115 ? y < 50 : y >= 30 && y < 50) ? 9 : 1' >shelf.pgm
	hints 'line 0: [89][0-9] px with the other side brighter' dptrace --score=edge --objective=sum --stats -p 5,39.5 -p 195,39.5 turns.pgm >out
	grep -q '"turned": 1[,}]' stderr
	hints '"turned": 0[,}]' dptrace --score=edge --objective=cost --stats -p 5,39.5 -p 195,39.5 turns.pgm >/dev/null
	run -1 grep -q ': line 0:' stderr
	for o in cost sum; do
		hints 'line 0: [89][0-9] px with the other side brighter' dptrace --score=edge --objective=$o --stats -p 5,29.5 -p 195,49.5 shelf.pgm >out
		grep -q 'line 0: another course' stderr
		grep -q '"turned": 1[,}]' stderr
		hints '"turned": 0[,}]' dptrace --score=edge --objective=$o --stats -p 5,39.5 -p 195,39.5 step.pgm >/dev/null
		run -1 grep -q brighter stderr
	done
	dptrace --score=edge+ -p 5,39.5 -p 195,39.5 turns.pgm 2>err >/dev/null
	run -1 grep -q brighter err
}

@test "the default scale is that of the line, also in noise: a wide one is followed along its middle" {
	for wide in 3 12; do
		paint 260 90 99 "20 + 60 * (d < $((wide / 2)) && d > -$((wide / 2))) + (x * 7 + y * 13) % 5" 'd = y - 45 - 12 * sin(x / 40)' >wide.pgm
		dptrace --quiet -p 10,48 -p 250,44.6 wide.pgm | near 1 '45 + 12 * sin(x / 40)' 9
		dptrace -v -p 10,48 -p 250,44.6 wide.pgm 2>&1 >/dev/null | grep -q -- "-s $((wide > 3 ? 4 : 2))"
	done
	for w in 18 30; do
		awk -v w=$w 'BEGIN { srand(3); print "P2 400 200 255"; for (y = 0; y < 200; y++) for (x = 0; x < 400; x++) {
			d = y - 100 - 15 * sin(x / 40); print int((d * d < w * w / 4 ? 150 : 90) + 24 * rand()) } }' >street.pgm
		dptrace --quiet -p 20,107 -p 380,98 street.pgm | near 4 '100 + 15 * sin(x / 40)' 6
	done
	# a horizontal line whose profile is a Gaussian, and noise of an amplitude
	for row in "2 5" "4 5" "4 20" "4 40"; do
		paint 200 80 199 "int(40 + 20 * exp(-(y - 40) ^ 2 / (2 * ${row% *} ^ 2)) + ${row#* } * s / 65536)" \
			's = (s * 1103 + 12345) % 65536' >profile.pgm
		dptrace -v --objective=cost -p 10,40 -p 190,40 profile.pgm 2>&1 >/dev/null | sed -n 1p | grep -q -- "-s ${row% *} "
	done
}

@test "WKT, CSV and GeoJSON say the same places; CSV has a row for each vertex, with its score, margin and whether it was given" {
	dptrace -n 3 $ends road.pgm | tr '\n' ' ' >text
	dptrace -n 3 $ends --to=wkt road.pgm | sed 's/LINESTRING (//; s/[,)]//g' | tr '\n' ' ' | diff text -
	dptrace -n 3 $ends --to=csv road.pgm | tail -n +2 | cut -d, -f4,5 | tr ',\n' '  ' | diff text -
	dptrace -n 3 $ends --to=geojson road.pgm | sed -n 's/.*coordinates": \[\(.*\)\]}}/\1 /p' | tr -d '[],\n' | diff text -
	dptrace -n 3 $ends --to=csv road.pgm >out
	[ "$(head -n 1 out)" = item,line,vertex,x,y,score,margin,point,border ]
	grep -qE '^0,0,0,[0-9.]+,[0-9.]+,0,,1,0$' out
	grep -qE '^0,0,1,[0-9.]+,[0-9.]+,-[0-9.]+,[0-9.]+,0,0$' out
	dptrace -n 3 --objective=sum $ends --to=csv road.pgm | grep -qE '^0,0,1,[0-9.]+,[0-9.]+,0\.[0-9]+,[0-9.]+,0,0$'
	[ "$(wc -l <out)" -eq 4 ]
}

@test "a part of a picture takes and gives pixels of the whole; a cut keeps its places, and GeoJSON names the system" {
	dptrace --quiet --spacing=10 $ends --to=wkt road.pgm >want
	pgmtoraw road.pgm | rawtile --grid=1x1 | dptrace --quiet --spacing=10 $ends --to=wkt | diff want -
	pgmtoraw road.pgm | rawtile --columns=0,40 --only=1 >right.nrrd
	dptrace --quiet --snap=0 -p 45,18 -p 75,17 right.nrrd >out
	[ "$(head -n 1 out)" = "45.000 18.000" ]
	near 1.5 <out
	fails 1 'lies outside the image of 40 x 40' dptrace -p 5,22 -p 75,17 right.nrrd
	pgmtoraw road.pgm | sed '0,/^encoding/s/^encoding/spacings: 1 1\naxis mins: 0 0\ngeotransform:=1000 2 0 5000 0 -2\ncrs:=EPSG:32633\nencoding/' >map.nrrd
	dptrace -n 3 --quiet -w 9 --snap=0 -p 25,24 -p 75,17 --to=geojsonl map.nrrd | sed 's/.*geometry/geometry/' >want
	rawaxes --crop=0:20:80 --crop=1:2:40 map.nrrd | dptrace -n 3 --quiet -w 9 --snap=0 -p 5,22 -p 55,15 --to=geojsonl | sed 's/.*geometry/geometry/' |
		diff want -
	dptrace $ends --to=geojson map.nrrd | grep -q '^{"type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32633"}}, "features": \[$'
	dptrace $ends --to=geojson road.pgm | grep -q '^{"type": "FeatureCollection", "features": \[$'
}

@test "a world file makes places, a geotransform those of WKT and GeoJSON, and text stays pixels" {
	printf '2\n0\n0\n-2\n1000\n5000\n' >w
	prints '1010 4956/1150 4966' dptrace -n 2 --snap=0 $ends --world=w road.pgm
	pgmtoraw road.pgm | sed '0,/^encoding/s/^encoding/geotransform:=1000 2 0 5000 0 -2\nencoding/' >map.nrrd
	prints 'LINESTRING (1011 4955, 1151 4965)' dptrace -n 2 --snap=0 $ends --to=wkt map.nrrd
	dptrace -n 2 --snap=0 $ends --to=geojson map.nrrd | grep -q '\[\[1011, 4955\], \[1151, 4965\]\]'
	prints '5.000 22.000/75.000 17.000' dptrace -n 2 --snap=0 $ends map.nrrd
	sed 's/^geotransform:=.*/geotransform:=1 2 3/' map.nrrd >bad.nrrd
	fails 1 'geotransform: a geotransform has six finite numbers' dptrace -n 2 $ends --to=wkt bad.nrrd
}

@test "the overlay is the picture with the polyline in red and its points in yellow" {
	dptrace $ends --overlay=over.ppm road.pgm >out
	[ "$(head -c 2 over.ppm)" = P6 ]
	pgmtoraw over.ppm >over.nrrd
	samples over.nrrd >rows
	[ "$(sed -n $((22 * 80 + 5 + 1))p rows)" = "255 255 0" ]
	[ "$(grep -cx '255 0 0' rows)" -gt 60 ]
	[ "$(sed -n 1p rows)" = "28 28 28" ]
}

# painted K: a border in colour along the road's sine, all its pixels of mean 100, moved from that mean K times, and above it
# a stronger border in brightness.
painted() {
	awk -v k="$1" 'BEGIN { print "P3 80 40 255"; for (y = 0; y < 40; y++) for (x = 0; x < 80; x++) {
		low = y > 20 + 6 * sin(x / 13)
		m = y < 9 ? 170 : 100
		print m + (low ? -10 : 20) * k, m + (low ? 5 : -10) * k, m + (low ? 5 : -10) * k } }'
}

@test "of a picture in colour, differences of colour count four times for an edge, or as --chroma says" {
	painted 1 >colour.ppm
	dptrace $ends --score=edge --chroma=1 <(painted 3) >out
	dptrace $ends --score=edge --chroma=3 --overlay=over.ppm colour.ppm | cmp - out
	dptrace $ends --score=edge --chroma=1 --overlay=plain.ppm colour.ppm >plain
	run -1 cmp -s plain out
	dptrace $ends --score=edge --chroma=4 colour.ppm >out
	dptrace $ends --score=edge colour.ppm | cmp - out
	for name in over plain; do
		pgmtoraw $name.ppm >$name.nrrd
		samples $name.nrrd | grep -vx '255 .* 0' | sort -u >$name.colours
	done
	cmp over.colours plain.colours
	# Other pictures and scores are as they were.
	dptrace $ends --score=edge road.pgm >out
	dptrace $ends --score=edge --chroma=9 road.pgm | cmp - out
	fails 2 'goes with --score=edge' dptrace $ends --chroma=2 colour.ppm
	fails 2 'goes with --score=edge' dptrace $ends --score=sin --chroma=2 colour.ppm
	item float '3 2 2' 'kinds: RGB-color domain domain' -- 0 0 0 8e37 -8e37 0 0 0 0 0 0 0 >huge.nrrd
	fails 1 'too large for --chroma=1000' dptrace -p 0,0 -p 1,1 --score=edge --chroma=1000 huge.nrrd
}

@test "threads share the samples of a large picture, and name the first bad one" {
	awk 'BEGIN { print "P3 240 120 255"; for (i = 0; i < 240 * 120; i++) print i % 240 + 9, i * 7 % 256, int(i / 240) + i % 3 }' | pgmtoraw >large.nrrd
	dptrace -t 1 --quiet --score=edge -p 20,20 -p 220,90 large.nrrd >out
	dptrace -t 3 --quiet --score=edge -p 20,20 -p 220,90 large.nrrd | cmp - out
	rawmath 'x >= 209 && y >= 30 ? 1e38 : a' large.nrrd >bad.nrrd
	fail_alike 1 'sample 209,30 is 1e+38: NaN, infinite and huge samples have no place here' 'dptrace -t @ --score=edge -p 20,20 -p 220,90 bad.nrrd' 1 3
}

@test "a thin edge is followed around a ramp whose gradient is as large" {
	paint 120 80 255 'int(60 + (y > edge ? 30 : 0) + 6 * ramp + .5)' 'edge = 55 - 22 * sin(3.14159 * x / 120); ramp = y < 42 ? 0 : y > 64 ? 22 : y - 42' >arch.pgm
	for ends in '-p 4,53 -p 115,52' '-p 10,50 -p 110,50'; do
		dptrace --score=edge $ends arch.pgm | near 2 '54.5 - 22 * sin(3.14159 * x / 120)'
	done
}

@test "--scores runs the recursion on given tables; those of a wrong shape, with NaN or for other points are refused" {
	# three guides of three samples: only the way over sample 0 scores
	tables 3 3 0 0 0 2 0 0 0 0 0 0 2 0 0 0 0 0 0 0 >s.nrrd
	prints '0.000 0.000/10.000 -2.000/20.000 0.000' dptrace --scores=s.nrrd -p 0,0 -p 20,0 -w 2 -a 90
	# doubles, from a pipe, are the same scores
	item double "3 3 2" -- 0 0 0 2 0 0 0 0 0 0 2 0 0 0 0 0 0 0 | dptrace --scores=- -p 0,0 -p 20,0 -w 2 -a 90 | diff printed -
	# a bound on the angle forbids the better way, by either method
	tables 3 3 0 0 0 2 1 0 0 0 0 0 2 0 0 1 0 0 0 0 >s.nrrd
	prints '0.000 0.000/10.000 0.000/20.000 0.000' dptrace --scores=s.nrrd -p 0,0 -p 20,0 -w 2 -a 20
	dptrace --method=d3 --scores=s.nrrd -p 0,0 -p 20,0 -w 2 -a 20 | diff printed -
	# an even number of samples has one more on the left
	tables 2 3 0 0 2 0 0 0 0 0 >s.nrrd
	prints '0.000 0.000/10.000 -2.000/20.000 0.000' dptrace --quiet --scores=s.nrrd -p 0,0 -p 20,0 -w 2 -a 90
	item float '1 2 2' -- 0 0 0 0 >s.nrrd
	fails 1 'link scores have sizes d d n-1' dptrace --scores=s.nrrd $ends
	tables 3 2 0 0 0 0 nan 0 0 0 0 >s.nrrd
	fails 1 'nan: beyond 1e20 there is no sum' dptrace --scores=s.nrrd $ends
	tables 3 2 0 0 0 0 1 0 0 0 0 >s.nrrd
	fails 1 'scores of 1 segments are for one polyline of 2 points' dptrace --scores=s.nrrd $ends -p 70,20
	fails 1 'two neighbouring points are the same' dptrace --scores=s.nrrd -p 1,1 -p 1,1
}

@test "--method=d3 gives the bytes of the method window" {
	for o in "" "--objective=sum -p 60,30" "--score=sin --length=arc -d 97 -t 3"; do
		dptrace --quiet $ends $o --to=csv road.pgm >want
		dptrace --quiet $ends $o --to=csv --method=d3 road.pgm | diff want -
	done
}

@test "-v tells each vertex's score and margin, and what was chosen" {
	hints 'segment 0 of 70.18 px: -n 3 -d 57 -w 28 -a 180 -s 2 --objective=cost level [0-9.]\+ noise [0-9.]\+$' dptrace -v -n 3 $ends road.pgm >out
	grep -qE 'vertex 1 at .*: link score -[0-9.]+, margin [0-9.]+$' stderr
	hints 'segment 0 of 70.18 px: -n 3 -d 31 -w 32 -a 60 -s 2 --objective=sum' dptrace -v -n 3 --objective=sum $ends road.pgm >out
	grep -qE 'vertex 1 at .*: link score 0\.[0-9]+, margin [0-9.]+$' stderr
}

@test "--stats counts lines, vertices and turns about as far as they may be, at the first guide too" {
	dptrace -n 3 --stats $ends road.pgm 2>&1 >out | grep -q '"lines": 1, "vertices": 3, "border": 0, "sharp": 0, "released": 0'
	paint 81 60 9 'd * d < 3 ? 9 : 1' 'd = y - 50 + (x < 40 ? x - 5 : 75 - x) * .55' >roof.pgm
	dptrace --quiet -p 5,50 -p 75,50 -n 3 -w 25 -a 60 --objective=sum --stats roof.pgm 2>&1 >out | grep -q '"sharp": 1,'
	dptrace --quiet -p 5,50 -p 75,50 -n 3 -w 25 -a 90 --objective=sum --stats roof.pgm 2>&1 >out | grep -q '"sharp": 0,'
}

# trace PROGRAM...: a line under noise by four scores.
trace() {
	gen_dptrace line 1 3 >line.nrrd
	gen_dptrace line 1 3 4 >lines
	for how in ridge edge edge- sin; do "$@" --score=$how --to=csv -f lines line.nrrd; done
}

@test "the same bytes without clones, vectors or contraction" {
	make -s -C "$root" B="$PWD/plain" OPT=-O1 CFLAGS=-DWEIR_NO_CLONES NVCC= "$PWD/plain/dptrace"
	trace dptrace >want
	trace plain/dptrace | cmp - want
}

@test "the same bytes on a CPU without AVX-512, and with libm's functions for one without FMA" {
	type -p valgrind >/dev/null || skip "valgrind is not installed"
	! sanitized || skip "valgrind runs no program under AddressSanitizer"
	trace dptrace >want
	# its CPU has AVX2 at most: the second set of clones
	trace valgrind -q dptrace -t 1 | cmp - want
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4 trace dptrace | cmp - want
}

@test "no result hangs on libm, whose functions differ from CPU to CPU" {
	for o in "$B"/obj/dptrace/*.o "$B"/obj/dptrace/*/*.o; do
		case ${o##*/} in
		direct.o | direct_score.o | main.o) continue ;;
		esac
		nm -u "$o" | grep -wE 'U (sin|cos|sincos|tan|atan2?|asin|acos|exp2?|expm1|log|log2|log10|pow|hypot|cbrt|fma)f?' && return 1
	done
	true
}

@test "two roads as good as each other, and a touched border, are warned about" {
	paint 80 41 9 '(y - 20 - d) ^ 2 < 3 || (y - 20 + d) ^ 2 < 3 ? 9 : 1' 'd = 10 * sin(3.14159265 * (x - 5) / 70)' >fork.pgm
	hints 'another course may be the right one in segment 0' dptrace -p 5,20 -p 75,20 fork.pgm >out
	hints 'another course is about as good' dptrace --objective=sum -p 5,20 -p 75,20 fork.pgm >out
	# two edges, and no place between them that is better to change over: a margin that rounding makes negative is no second warning
	paint 200 80 9 'y >= 30 && y < 50 ? 9 : 1' >band.pgm
	hints 'line 0: another course may be the right one in segment 0' dptrace --score=edge --objective=cost --stats -p 5,29.5 -p 195,49.5 band.pgm >out
	run -1 grep -q 'about as good' stderr
	grep -q '"low_margin": 0,' stderr
	hints '[0-9] vertices touch the border of the strip' dptrace -p 5,30 -p 75,30 -w 4 road.pgm >out
	tables 3 3 0 0 0 2 0 0 0 0 0 0 2 0 0 0 0 0 0 0 >s.nrrd
	hints ' 1 vertex touches the border of the strip' dptrace --scores=s.nrrd -p 0,0 -p 20,0 -w 2 -a 90 >out
	remarks '' dptrace --quiet -p 5,30 -p 75,30 -w 4 road.pgm >out
}

# Two roads from 5,40 to 195,40. One of them is of brightness A over a stretch, the other B.
fading() {
	paint 200 81 99 "(y - 40 - d) ^ 2 < 3 ? (f ? $1 : 90) : (y - 40 + d) ^ 2 < 3 ? (f ? $2 : 90) : 10" \
		'd = 20 * sin(3.14159265 * (x - 5) / 190); f = x > 72 && x < 125' >fading.pgm
}

@test "a road that fades beside another one is warned about, one that does not fade is not" {
	fading 30 28
	hints 'line 0: another course may be the right one in segment 0 (doubt [2-9][0-9][0-9]): add points' dptrace -p 5,40 -p 195,40 --to=geojson --stats fading.pgm >out
	grep -q '"doubtful": 1' stderr
	grep -qE '"doubt": [2-9][0-9][0-9]\.' out
	fading 80 28
	hints '"doubtful": 0' dptrace -p 5,40 -p 195,40 --stats fading.pgm >out
	[ "$(grep -c '^dptrace' stderr)" = 0 ]
}

@test "a constant picture gives the chord and a warning" {
	hints 'no evidence' dptrace -n 3 $ends <(gen constant 80 40 .5) >out
	lines out '5.000 22.000/40.000 19.500/75.000 17.000'
	# no other course is as good as a chord that nothing supports: a low margin is not counted either
	run -1 grep -q 'another course' stderr
	gen constant 80 40 .5 | dptrace --quiet -n 3 $ends --stats 2>&1 >out | grep -q '"low_margin": 0,'
}

@test "points, numbers and combinations of options that cannot be are refused" {
	printf '1 0 0 1 5' >five
	printf '1 0 1 0 5 5' >flat
	printf '1 0 0 x 5 5' >word
	pgmtoraw road.pgm road.pgm >two
	all_fail dptrace <<-END
		2|no points|road.pgm
		1|1 point: a line needs 2|-p 5,5 road.pgm
		2|--point|-p 5 -p 6,6 road.pgm
		1|road.pgm: line 0: two neighbouring points are the same, 5,22|-p 5,22 -p 5,22 road.pgm
		1|12 guides do not fit between 5,22 and 9,22: 4 px are too short|-n 12 -p 5,22 -p 9,22 road.pgm
		1|point 80,22 lies outside the image of 80 x 40|-p 5,22 -p 80,22 road.pgm
		1|point 5,-1 lies outside|-p 5,-1 -p 60,22 road.pgm
		2|--samples|$ends -d 1 road.pgm
		2|--guides|$ends -n 1 road.pgm
		2|--angle|$ends -a 0 road.pgm
		2|--angle|$ends -a 181 road.pgm
		2|--half-width|$ends -w 0 road.pgm
		1|a half-width of 81 px is beyond the image of 80 x 40|$ends -w 81 road.pgm
		1|five: a world file has six finite numbers|$ends --world=five road.pgm
		1|onto a line|$ends --world=flat road.pgm
		1|word: a world file has six finite numbers|$ends --world=word road.pgm
		2|--spacing: goes without --guides|$ends -n 3 --spacing=10 road.pgm
		2|standard input is the picture|-f -
		2|goes with the sum|$ends --objective=cost --length=column road.pgm
		2|whose objective is the sum|$ends --score=sin --objective=cost road.pgm
		2|--scores: goes without a picture|$ends --scores=x road.pgm
		2|--scores: goes without --overlay|$ends --scores=x -n 4
		2|--scores: goes without|$ends --scores=x --score=edge
		2|--scores: goes without|$ends --scores=x --objective=sum
		2|--scores: goes without|$ends --scores=x --length=arc
		2|--scores: goes without|$ends --scores=x -s2
		2|--scores: goes without|$ends --scores=x --snap=0
		2|--scores: goes without|$ends --scores=x --chroma=1
		2|give --to=geojsonl|$ends --part=0/2 --to=geojson road.pgm
		2|overlay|$ends --part=0/2 --overlay=o.ppm road.pgm
		2|not of 2|$ends --part=0/2 road.pgm road.pgm
		1|one picture|--quiet $ends --part=0/2 two -o out
		2|scores|$ends --part=0/2 --scores=s.nrrd
		2|'2/2' is not I/N|$ends --part=2/2 road.pgm
	END
	dptrace $ends -a 180 road.pgm | near 1
}

@test "files of points that are not of a form are refused by their line" {
	while IFS='|' read -r text content; do
		printf '%b' "$content" >lines
		fails 1 "lines: $text" dptrace -f lines road.pgm
	done <<-'END'
		no points|
		no points|# nothing\n
		line 2: 3 numbers: a polyline is x y x y ...|1 2 3 4\n1 2 3\n
		line 1: 2 numbers|1 2\n
		line 1: '1,2' is not a finite number|1,2 3,4\n
		line 1: 'nan' is not a finite number|1 2 nan 3\n
		line 1: a position of WKT has two to four numbers|LINESTRING (5 22, 75)\n
		line 1: a position of WKT has two to four numbers|LINESTRING (5 22 1 2 75, 75 17)\n
		line 1: 'x' is not a finite number|LINESTRING (1 2, x 3)\n
		line 1: a LINESTRING is (x y, x y, ...) and fills its line|LINESTRING (5 22, 75 17), LINESTRING (5 22, 60 14)\n
		line 1: 'MULTILINESTRING': of WKT only LINESTRINGs are traced|MULTILINESTRING ((5 22, 75 17))\n
		no points|{"type":"FeatureCollection","features":[]}
		line 1: a Point: only LineStrings are traced|{"type":"Point","coordinates":[1,2]}
		line 1: a position has two numbers|{"type":"LineString",\n"coordinates":[[1],[2,3]]}
		line 1: 1 position: a LineString has two or more|{"type":"LineString","coordinates":[[2,3]]}
		line 2: feature 1: a Polygon: only LineStrings are traced|\n{"features":[{},{"type":"Polygon","coordinates":[[]]}]}
		line 3: malformed GeoJSON: ']' expected near '3'|{}\n{"type":"LineString",\n"coordinates":[[1,2],[2 3]]}
	END
	fails 1 'absent: No such file' dptrace -f absent road.pgm
	# A picture in place of points or of a world file is called a picture.
	pgmtoraw road.pgm >road.nrrd
	fails 1 "road.nrrd: it is raw and not text with numbers" dptrace -f road.nrrd road.pgm
	fails 1 "road.pgm: it is PNM and not text with numbers" dptrace -f road.pgm road.pgm
	fails 1 "road.nrrd: it is raw and not text" dptrace -p 5,5 -p 9,9 --world=road.nrrd road.pgm
}

@test "a strip partly outside the picture finds no edge at the border" {
	# a bright picture; replaced by 0 outside, its border would be the best edge far and wide
	dptrace -p 5,5 -p 75,5 --score=edge -w 20 <(paint 80 40 99 'y < 6 ? 90 : 91') | awk '{ exit !($2 > 4 && $2 < 7) }'
	dptrace $ends -w 60 road.pgm | near 1
}

@test "memory beyond the limit is refused with the number" {
	fails 1 'bytes of link sums exceed the limit of 1048576' dptrace $ends -n 20 -d 513 --max-bytes=1M road.pgm
	dptrace $ends -n 20 -d 513 -w 30 --max-bytes=200M road.pgm | near 1
	# A steep strip is narrow, but its way needs the whole box.
	awk 'BEGIN { print "P2 480 480 99"; for (i = 0; i < 480 * 480; i++) print (i % 481 < 3 ? 90 : 20) + i * 7 % 5 }' >steep.pgm
	fails 1 "bytes of a way's cells exceed the limit of 6291456" dptrace -t 1 -s 1 -w 10 -p 10,10 -p 470,470 --max-bytes=6M steep.pgm
	dptrace -t 1 -s 1 -w 10 -p 10,10 -p 470,470 --max-bytes=8M steep.pgm >out
	# Fewer lines are traced at once where memory is short.
	for i in 1 2 3 4; do echo '5 22 75 17'; done >four
	sed 1d four >three
	for f in four three; do
		dptrace -t 1 -n 20 -d 257 -w 30 -f $f road.pgm >one
		dptrace -t 4 -n 20 -d 257 -w 30 --max-bytes=32M -f $f road.pgm | cmp - one
		dptrace -t 4 -n 20 -d 257 -w 30 -f $f road.pgm | cmp - one
	done
	dptrace -t 4 -n 20 -d 257 -w 30 -f three road.pgm | cmp - one
	fails 1 'bytes of link sums exceed the limit of 1048576' dptrace -t 4 -n 20 -d 257 -w 30 --max-bytes=1M -f three road.pgm
}

@test "a point of a long polyline takes little memory, also where one segment is long" {
	paint 320 40 9 '(y - 20 - 6 * sin(x / 13)) ^ 2 < 3 ? 9 : 1' >long.pgm
	# back and forth along the road by pixels, and back to its start in one segment
	awk 'BEGIN { for (i = 0; i < 5000; i++) { x = 10 + i % 300; printf "%d %d ", x, 20 + 6 * sin(x / 13) } }' >many
	dptrace -t 1 --quiet --max-bytes=40M -f many long.pgm >out
	dptrace -t 3 --quiet -f many long.pgm | cmp - out
}

@test "an S that doubles back is warned about from its two ends" {
	gen_dptrace loop .5 1 >s.nrrd
	hints 'line 0: [0-9]\+ vertices turn about as far as they may: if the object doubles back there, add points' \
		dptrace -f <(gen_dptrace loop .5 1 2) s.nrrd >out
	dptrace -a 45 -f <(gen_dptrace loop .5 1 2) s.nrrd 2>err >out
	run -1 grep -q 'turn about' err
	gen_dptrace line .5 1 >line.nrrd
	remarks '' dptrace -f <(gen_dptrace line .5 1 2) line.nrrd >out
}

@test "a hairpin is followed from its two ends, either way round" {
	# A U that lies on its side: arms of 30 px, 50 px apart, and the half circle that joins them. The points are its two ends.
	paint 180 160 99 '20 + (x * 7 + y * 13) % 5 + (d * d < 4 ? 60 : 0)' \
		'r = sqrt((x - 120) ^ 2 + (y - 80) ^ 2); d = x > 120 ? r - 25 : x < 90 ? 9 : y < 80 ? y - 55 : y - 105' >hairpin.pgm
	hints 'line 0: segment 0 of 1[34][0-9.]* px along a way: -n ' dptrace -v -w 60 -p 92,55 -p 92,105 hairpin.pgm >out
	run -1 grep -q 'turn about\|border of the strip\|evidence' stderr
	awk '{ d = $1 > 120 ? sqrt(($1 - 120) ^ 2 + ($2 - 80) ^ 2) - 25 : $2 < 80 ? $2 - 55 : $2 - 105
		if (d * d > 2.25 || $1 < 89) bad = 1; if ($1 > 143) round = 1 } END { exit bad || !round }' out
	dptrace --quiet -w 60 -p 92,105 -p 92,55 hairpin.pgm | tac | cmp - out
	dptrace --quiet -t 2 -w 60 -p 92,55 -p 92,105 hairpin.pgm | cmp - out
	WEIR_CPU=generic dptrace --quiet -w 60 -p 92,55 -p 92,105 hairpin.pgm | cmp - out
	dptrace --quiet -w 60 -f <(printf '92 55 92 105\n92 55 106 55 106 105 92 105\n') hairpin.pgm >both
	awk '/^$/ { exit } 1' both | cmp - out
	[ "$(awk '/^$/ { n++ } n == 1 && $1 > 140 { k++ } END { print (k > 1) }' both)" = 1 ]
}

@test "thousands of polylines are traced, a bad one among them is named by its line" {
	for i in $(seq 3000); do echo "5 22 $((i % 60 + 15)) 17"; done >lines
	dptrace --quiet -t 1 -n 3 --to=wkt -f lines road.pgm >one
	[ "$(wc -l <one)" -eq 3000 ]
	dptrace --quiet -t 5 -n 3 --to=wkt -f lines road.pgm | cmp one -
	sed -i '2001s/$/ 9/' lines
	fails 1 'lines: line 2001: 5 numbers' dptrace -f lines road.pgm
	sed -i '2001s/.*/5 22 500 17/' lines
	fails 1 'line 2000: point 500,17 lies outside the image' dptrace -f lines road.pgm
	# With several threads the first bad line is named, not the first one found.
	for i in $(seq 300); do echo "5 22 $((i % 60 + 15)) 17"; done >lines
	# line 119 is found bad after a hundred segments were measured, those after it at once
	{ for i in $(seq 50); do printf '5 22 75 17 '; done; echo 75 16; } >long
	sed -i -e '121,$s/.*/5 22 5 22/' -e '120{r long' -e 'd}' lines
	fail_alike 1 'line 119: 3 guides do not fit between 75,17 and 75,16' 'dptrace -n 3 -t @ -f lines road.pgm' 1 2 2 2 3 3 7 7
}

@test "where the mask is 0 there is no line, and its rim is none; one mask, which may come from a pipe, serves a stream" {
	# a bright disc of a road: the disc's rim is stronger than the road
	paint 80 60 99 'y < 34 ? 60 + 5 * ((y - 24) ^ 2 < 3) : 0' >rim.pgm
	paint 80 60 1 'y < 34' >mask.pgm
	dptrace --quiet --score=ridge+ -p 5,24 -p 75,24 -w 20 --mask=mask.pgm rim.pgm >out
	near 1 24 <out
	# the key nodata leaves out the same pixels
	pgmtoraw rim.pgm | sed '0,/^encoding/s/^encoding/nodata:=0\nencoding/' >nodata.nrrd
	dptrace --quiet --score=ridge+ -p 5,24 -p 75,24 -w 20 nodata.nrrd | diff out -
	# a line in the masked half alone leaves the chord
	dptrace --quiet -p 5,30 -p 75,30 -w 20 --mask=mask.pgm <(paint 80 60 99 'y > 40 && y < 44 ? 90 : 9') | near 1 30
	fails 1 'a mask of one plane of 80 x 60 is needed' dptrace -p 5,24 -p 75,24 --mask=road.pgm rim.pgm
	awk 'NR == 1; NR > 1 { print 0 }' mask.pgm >none.pgm
	fails 1 'the mask leaves no pixel' dptrace -p 5,24 -p 75,24 --mask=none.pgm rim.pgm
	paint 80 40 1 'x < 40' >mask.pgm
	dptrace --quiet $ends --mask=mask.pgm road.pgm >one
	run -1 diff one <(dptrace --quiet $ends road.pgm)
	dptrace --quiet $ends --mask=- road.pgm road.pgm <mask.pgm | diff <(cat one; echo; cat one) -
	cat mask.pgm mask.pgm >two.pgm
	fails 1 'two.pgm: more than one item' dptrace $ends --mask=two.pgm road.pgm road.pgm
}

@test "WKT's heights and measures are no points, and a line holds one LINESTRING" {
	dptrace -p 5,22 -p 75,17 -p 60,14 road.pgm >want
	for text in 'LINESTRING Z (5 22 30, 75 17 31.5,60 14 2)' 'SRID=4326; LineStringM(5 22 1,75 17 2,60 14 3) # x' \
		'linestring zm (5 22 1 2, 75 17 1 2, 60 14 1 2)'; do
		dptrace -f <(echo "$text") road.pgm | diff - want
	done
}

@test "the LineStrings of GeoJSON are polylines" {
	dptrace -n 3 $ends -p 60,14 road.pgm >want
	dptrace -n 3 $ends -p 60,14 --to=geojson road.pgm >out.json
	printf '{"type": "LineString", "coordinates": [[5,22],[75,17],[60,14]]}\n' >one
	printf '\036{"geometry":{"coordinates":[[5,22,0],[75,17,1e3],[60, 14]],\n"type":"LineString"},"type":"Feature","properties":{"a":[1,{"b":null}],"c":"}\\""}}\n' >feature
	printf '{"type":"FeatureCollection","features":[%s]}' "$(tr -d '\036' <feature)" >collection
	printf '{"type":"MultiLineString","coordinates":[[[5,22],[75,17],[60,14]]]}' >multi
	for f in one feature collection multi; do dptrace -n 3 -f $f road.pgm | diff want -; done
	dptrace -n 3 -f <(cat feature one) road.pgm | diff <(cat want; echo; cat want) -
	dptrace -n 3 -f out.json road.pgm >back
	# a NUL byte ends neither the file nor a number
	fails 1 'line 2: malformed GeoJSON: ' dptrace -f <(cat one; printf '\0'; cat one) road.pgm
	fails 1 'malformed GeoJSON' dptrace -f <(printf '{"type":"LineString","coordinates":[[5\0001,22],[75,17]]}') road.pgm
	fails 1 'maximum parsing depth reached' dptrace -f <(printf '{"a":%09000d' 0 | tr 0 '[') road.pgm
}

@test "points may be places of the map, in text or WKT" {
	pgmtoraw road.pgm | sed '0,/^encoding/s/^encoding/geotransform:=1000 2 0 5000 0 -2\ncrs:=EPSG:32633\nencoding/' >map.nrrd
	dptrace -n 5 $ends --to=wkt map.nrrd >want
	# pixel 5,22 has its centre at 1011 4955
	dptrace -n 5 -p 1011,4955 -p 1151,4965 --points=world --to=wkt map.nrrd | diff want -
	dptrace -n 5 -f <(echo 'LineString(1011 4955, 1151 4965)') --points=world --to=wkt map.nrrd | diff want -
	dptrace -n 5 -f want --points=world --to=wkt map.nrrd | grep -q '^LINESTRING'
	# places in, places out: the table has the vertices of the WKT
	dptrace -n 5 -p 1011,4955 -p 1151,4965 --points=world --to=csv map.nrrd | tail -n +2 | cut -d , -f 4,5 | tr ',\n' ' ,' |
		sed 's/^/LINESTRING (/; s/,$/)/; s/,/, /g' | diff <(tr -d '\n' <want) -
	dptrace -n 5 -p 1011,4955 -p 1151,4965 --points=world map.nrrd | head -n 1 | grep -x "$(sed 's/.*(//; s/,.*//' want)"
	dptrace -n 5 $ends --to=ewkt map.nrrd | diff <(sed 's/^/SRID=32633;/' want) -
	dptrace -n 5 -f <(echo 'srid=32633;LineString(1011 4955, 1151 4965)') --points=world --to=wkt map.nrrd | diff want -
	dptrace -n 5 $ends --to=ewkt road.pgm | grep -q '^LINESTRING'
	fails 1 'no geotransform: --points=world needs one' dptrace -p 1011,4955 -p 1151,4965 --points=world road.pgm
}

# warns TEXT ARGUMENT ...: dptrace succeeds, and its warnings that have nothing to do with doubts are TEXT (none: empty).
warns() {
	dptrace "${@:2}" 2>&1 >/dev/null | grep -v ': line [0-9]*: ' | diff - <(printf '%s' "${1:+dptrace: $1
}")
}

@test "points of another coordinate system are warned of, and places that no reader would know" {
	local elsewhere=': it is a map of EPSG:32633, and the points are places of EPSG:4326; transform them (ogr2ogr -t_srs EPSG:32633)'
	pgmtoraw road.pgm | sed '0,/^encoding/s/^encoding/geotransform:=1000 2 0 5000 0 -2\ncrs:=EPSG:32633\nencoding/' >map.nrrd
	for srid in 32633 4326; do
		echo "SRID=$srid;LineString(1011 4955, 1151 4965)" >a.ewkt
		echo '{"type": "LineString", "coordinates": [[1011, 4955], [1151, 4965]], "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::'$srid'"}}}' >b.json
		echo '{"type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "EPSG:'$srid'"}}, "features": [{"type": "Feature", "geometry": {"type": "LineString", "coordinates": [[1011, 4955], [1151, 4965]]}}]}' >c.json
		for f in a.ewkt b.json c.json; do
			warns "$([ $srid = 32633 ] || echo "map.nrrd$elsewhere")" -f $f --points=world map.nrrd
		done
	done
	warns "map.nrrd$elsewhere" -f <(sed 's/EPSG::4326/OGC:1.3:CRS84/' b.json) --points=world map.nrrd
	# a system that is not known on one side is no other one
	warns '' -f <(echo 'LineString(1011 4955, 1151 4965)') --points=world map.nrrd
	warns '' -f a.ewkt --points=world <(sed '/^crs/d' map.nrrd)
	warns '(stdin): the points are places of EPSG:4326, but taken as pixels; see --points=world' -f <(echo 'SRID=4326;LineString(5 22, 75 17)') <map.nrrd
	fails 1 'line 2: places of EPSG:32633 behind those of EPSG:4326: give one system' dptrace -f <(cat a.ewkt <(sed s/4326/32633/ a.ewkt)) --points=world map.nrrd
	# what is written
	sed 's/^geotransform:=.*/geotiff.tiepoints:=0 0 0 500000 4200000 0 80 0 0 500800 4200000 0 0 40 0 500000 4199600 0/' map.nrrd >gcp.nrrd
	for to in wkt ewkt geojson geojsonl; do
		warns 'gcp.nrrd: a map with control points alone: pixels are written, not places; see --world' $ends --to=$to gcp.nrrd
		warns '' $ends --to=$to map.nrrd
	done
	warns '' $ends gcp.nrrd
	sed '/^crs/d' map.nrrd >own.nrrd
	for to in geojson geojsonl; do
		warns 'own.nrrd: a map whose system has no number of EPSG: GeoJSON has no crs, and readers take degrees' $ends --to=$to own.nrrd
	done
	warns '' $ends --to=ewkt own.nrrd
	# a mask of another place
	sed 's/geotransform:=1000/geotransform:=1002/' map.nrrd | rawmath 'a * 0 + 1' - >mask.nrrd
	warns 'mask.nrrd: it is a map of another place than map.nrrd' $ends --mask=mask.nrrd map.nrrd
}

@test "NaN and infinite samples, and stacks, are refused; of NaN with the way out, and the mask that it names works" {
	fails 1 'sample 1,1 is nan' dptrace -p 0,0 -p 2,2 <(gen --type=float -- values 3x3 1 2 3 4 nan 6 7 8 9)
	fails 1 'sample 1,2 is inf' dptrace -p 0,0 -p 2,2 <(gen --type=float -- values 3x3 1 2 3 4 5 6 7 inf 9)
	fails 1 'not a single picture' dptrace -p 0,0 -p 1,1 <(gen --type=float -- values 2x2x3 1 2 3 4 5 6 7 8 9 1 2 3)
	pgmtoraw road.pgm | rawmath 'x == 40 && y == 3 ? a / 0 - a / 0 : a' >nan.nrrd
	fails 1 "sample 40,3 is nan: NaN, infinite and huge samples have no place here; see --mask (rawmath '!isnan(a)' makes one)" dptrace $ends nan.nrrd
	rawmath '!isnan(a)' nan.nrrd >mask.nrrd
	dptrace $ends --mask=mask.nrrd nan.nrrd | near 1
}

@test "the shares of --part, one after the other, are the whole, and their messages count polylines as the whole does" {
	for i in $(seq 20); do echo "5 22 $((i * 3 + 10)) $((17 + i % 3))"; done >lines
	for to in text wkt csv geojsonl; do
		dptrace --quiet --to=$to $ends -f lines road.pgm >whole
		for n in 1 2 7 64; do
			for ((i = 0; i < n; i++)); do dptrace --quiet --to=$to $ends -f lines --part=$i/$n road.pgm; done | cmp - whole
		done
	done
	# 21 polylines in two shares: the second has 11, from number 10 on; a share of 64 is empty.
	[ "$(dptrace --quiet --to=csv -p 5,22 -p 75,17 -f lines --part=1/2 road.pgm | cut -d, -f2 | uniq | tr '\n' ' ')" = \
		"10 11 12 13 14 15 16 17 18 19 20 " ]
	[ "$(for ((i = 0; i < 64; i++)); do dptrace --quiet $ends -f lines --part=$i/64 road.pgm | grep -c . || true; done | grep -cx 0)" -eq 43 ]
	for i in $(seq 4); do echo "5 22 $((i * 9)) 19"; done >lines
	sed -i '3s/.*/5 22 500 17/' lines
	dptrace --quiet -f lines --part=0/2 road.pgm >out
	[ -s out ]
	fails 1 'line 2: point 500,17 lies outside the image' dptrace -f lines --part=1/2 road.pgm
	echo '5 3 75 3 # no road here' >lines
	echo '5 36 75 36' >>lines
	dptrace -v -f lines road.pgm 2>whole >out
	for i in 0 1; do dptrace -v -f lines --part=$i/2 road.pgm; done 2>shares >out
	grep -q 'line 1: segment 0' shares
	diff <(grep 'line [01]:' whole | sort) <(grep 'line [01]:' shares | sort)
}

@test "a picture may have 2 pixels, and the ends of short segments may move together" {
	prints '0.000 0.000/1.000 0.000' dptrace --quiet -p 0,0 -p 1,0 <(echo P2 2 1 9 5 6)
	fails 1 '0.8 px are too short' dptrace -p -.4,0 -p .4,0 <(echo P2 1 1 9 5)
	gen noise 16 12 >a.pgm
	dptrace --quiet -f <(printf '2 2 12 9\n3 3 8 8 12 3\n') a.pgm >out
	[ "$(grep -c . out)" -gt 4 ]
	run -1 grep -E 'nan|inf' out
}

# crossing [N]: gray ground; a white line from 5,10 to 115,70, brighter in each plane; one from 5,70 to 115,10 that differs in colour
# alone. Samples are N times as large.
crossing() {
	awk -v k="${1:-1}" 'BEGIN { print "P3 120 80", 255 * k; for (y = 0; y < 80; y++) for (x = 0; x < 120; x++) {
		a = (y - 10 - (x - 5) * 6 / 11) ^ 2 < 3; b = (y - 70 + (x - 5) * 6 / 11) ^ 2 < 3
		print (a ? "250 250 250" : b ? k * 90 " " k * 150 " " k * 60 : k * 100 " " k * 100 " " k * 100) } }' |
		sed "s/^250 250 250$/$((250 * ${1:-1})) $((250 * ${1:-1})) $((250 * ${1:-1}))/"
}
white='10 + (x - 5) * 6 / 11' green='70 - (x - 5) * 6 / 11'

@test "--like follows the line of the colour at the points, another one for each polyline" {
	crossing >cross.ppm
	dptrace -p 20,62 -p 100,18 --score=ridge --quiet cross.ppm >out
	run -1 near 2 "$green" <out
	# A click may be 2 px beside the line.
	printf '20 62 100 18\n20 18 100 62\n22 63 100 16\n' >lines
	dptrace --like -f lines --quiet -t 1 cross.ppm >out
	awk -v RS= 'NR != 2' out | near 1 "$green" 20
	awk -v RS= 'NR == 2' out | near 1 "$white" 10
	dptrace --like -f lines --quiet -t 7 cross.ppm | cmp - out
	for i in 0 1; do dptrace --like -f lines --quiet --part=$i/2 cross.ppm; done | cmp - out
	dptrace --like -f lines --quiet <(crossing 200) | cmp - out
	dptrace --like=90,150,60 -p 20,62 -p 100,18 --quiet cross.ppm | near 1 "$green" 10
	# The drawing and the output have the same places.
	dptrace --like -f lines --quiet --overlay=over.ppm cross.ppm | cmp - out
	[ "$(pgmtoraw over.ppm | rawaxes --slice=2:40 --slice=1:60 | rawtotext)" = "255 0 0" ]
}

@test "without --score a line in colour is also traced by its colour, and gray in three planes is gray" {
	crossing >cross.ppm
	printf '20 62 100 18\n20 18 100 62\n' >lines
	dptrace -v -f lines -t 1 cross.ppm >out 2>err
	awk -v RS= 'NR == 1' out | near 1 "$green" 10
	awk -v RS= 'NR == 2' out | near 1 "$white" 10
	grep -q 'line 0: segment 0 of .* px by colour: -n' err
	for o in -t7 --quiet --objective=cost; do dptrace --quiet $o -f lines cross.ppm | cmp - out; done
	awk '$1 != "P3" && NF == 3 { print $1, $1, $1; next } 1' cross.ppm >gray.ppm
	dptrace -f lines --quiet gray.ppm | cmp - <(dptrace -f lines --quiet --score=ridge gray.ppm)
}

@test "the evidence of --like is exp(-D / T), and T is a fifth of the mean of D" {
	# In the picture D is 0 or 64.
	t=$(awk 'NR > 1 { for (i = 1; i <= NF; i++) { n++; s += ($i - 9) ^ 2 } } END { printf "%.17g", s / n / 5 }' road.pgm)
	pgmtoraw road.pgm | rawmath "exp(-(a - 9) ^ 2 / $t)" >like.nrrd
	dptrace $ends --score=ridge+ like.nrrd >out
	dptrace $ends --like=9 road.pgm | cmp - out
	dptrace $ends --like road.pgm | cmp - out
	near 1 <out
	# What the mask leaves out and what is no number has no likeness.
	rawmath 'x < 30 ? nan : a' <(pgmtoraw road.pgm) >holes.nrrd
	rawmath '!isnan(a)' holes.nrrd >mask.nrrd
	dptrace --like --mask=mask.nrrd -p 40,20 -p 75,17 holes.nrrd | near 1
	fails 1 'have no place here' dptrace --like -p 40,20 -p 75,17 holes.nrrd
}

@test "--like is refused with what it cannot go with" {
	all_fail dptrace $ends <<-'END'
		2|--like: goes without -g|--like -g road.pgm
		2|--score=ridge+ alone|--like --score=edge road.pgm
		2|--like: goes without --scores|--like --scores=x
		2|1 to 2 numbers|--like=1,2,3 road.pgm
		2|'red' is not|--like=red road.pgm
	END
	fails 1 'line 1: point 500,17 lies outside the image of 80 x 40' dptrace --like -f <(printf '5 22 75 17\n5 22 500 17\n') road.pgm
	dptrace --like --quiet -p 0,0 -p 1,0 <(echo P2 2 1 9 5 5) >out
	prints '0.000 0.000/1.000 0.000' cat out
}
