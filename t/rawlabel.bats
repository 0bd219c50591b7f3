load lib

# rawlabel: connected components, and their measures.

@test "components touch by sides, or by corners too" {
	pgm 5 3 9 1 1 0 0 3 0 0 1 0 0 2 0 0 0 1 >a.pgm
	lines <(rawlabel a.pgm | rawtotext) '1 1 0 0 2/0 0 1 0 0/3 0 0 0 4'
	lines <(rawlabel -c 4 a.pgm | rawtotext) '1 1 0 0 2/0 0 3 0 0/4 0 0 0 5'
	rawlabel a.pgm | grep -ax 'type: int'
	lines <(rawlabel --min-size=2 a.pgm | rawtotext) '1 1 0 0 0/0 0 1 0 0/0 0 0 0 0'
}

@test "volumes touch by sides, edges and corners" {
	gen --type=uchar values 3x3x2 1 0 0 0 0 0 0 0 1 0 0 0 0 1 0 0 0 0 >a
	gen --type=uchar values 3x3x2 1 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 >b
	for c in '6 a 3' '18 a 3' '26 a 1' '6 b 2' '18 b 1' '26 b 1'; do
		read -r c file n <<<"$c"
		rawlabel -c $c --to=csv --stats=s $file >/dev/null
		grep "\"components\": $n" s
	done
}

@test "csv says of which item a component is, and parts are warned of" {
	pgm 4 2 1 1 0 0 1 1 0 0 1 >a.pgm
	pgm 2 1 1 0 0 >b.pgm
	lines <(rawlabel --to=csv --stats=s a.pgm b.pgm a.pgm | sed 's/,.*,/,/') 'label,item/1,0/2,0/1,2/2,2'
	grep '"items": 3' s
	rawtile --grid=1x2 a.pgm | rawlabel 2>err >parts
	[ "$(grep -c 'part of a picture (tile:=0 . 4 2): components end at its sides' err)" -eq 2 ]
	fails 1 'tile:=0 0 1 1: 4x1 pixels reach outside' rawlabel <(sed 's/tile:=0 0 4 2/tile:=0 0 1 1/' parts)
}

@test "measures, by hand" {
	pgm 4 3 9 0 2 0 0 0 2 8 0 0 0 0 7 >a.pgm
	lines <(rawlabel --to=csv a.pgm) 'label,size,xmin,ymin,xmax,ymax,x,y,sum,peak,xpeak,ypeak,xw,yw,xx,yy,xy,min,sd,area,major,minor,angle,touches,item/1,4,1,0,3,2,1.75,1,19,8,2,1,2.15789474,1.26315789,0.55401662,0.404432133,0.432132964,2,2.77263413,4,4.1999298,1.16644318,39.6901724,1,0'
	rawlabel --to=table a.pgm | rawinfo | grep 'columns:=label size xmin'
	diff <(rawlabel --to=table a.pgm | rawtotext | cut -d' ' -f 1-9) <(rawlabel --to=csv a.pgm | sed 1d | tr , ' ' | cut -d' ' -f 1-9)
}

@test "the columns of shape, by hand" {
	# Five samples in a line have a variance of 2, so the ellipse is 4 sqrt 2 long; a line down has the angle 90.
	item uchar '7 3' 'spacings: .5 .5' -- 0 0 0 0 0 0 0 0 3 3 3 3 8 0 0 0 0 0 0 0 0 >a
	same <(rawlabel --to=csv a | sed 1d | cut -d, -f 18-24) '3,2,1.25,2.82842712,0,0,0'
	same <(rawaxes --order=1,0 a | rawlabel --to=csv | sed 1d | cut -d, -f 21-24) '2.82842712,0,90,0'
	pgm 3 3 9 0 0 5 0 5 0 5 0 0 | rawlabel --to=csv | cut -d, -f 19-24 | grep -x '0,3,4.61880215,0,-45,1'
	# Two samples at z = 0 and z = 4, one x apart: the variances are 1/4, 4 and the covariance 1.
	item uchar '3 1 2' 'spacings: 1 1 4' -- 0 1 0 0 0 1 | rawlabel -c 26 --to=csv | cut -d, -f 20-29 | grep -x '0.25,0,0,4,1,0,1,0,8,1'
	# A mean far from 0 costs the standard deviation no digits.
	gen --type=double values 2x1 1000000001 1000000003 | rawlabel --to=csv | sed 1d | cut -d, -f 19 | grep -x 1
}

@test "--fill-holes chooses what does not hang together with the border" {
	pgm 3 3 9 0 1 0 1 0 1 0 1 0 >a.pgm
	lines <(rawlabel --fill-holes a.pgm | rawtotext) '0 1 0/1 1 1/0 1 0'
	lines <(rawlabel -c 4 --fill-holes a.pgm | rawtotext) '0 1 0/2 0 3/0 4 0'
	item float '3 3' -- 1 1 1 1 nan 1 1 1 1 | rawlabel --fill-holes | rawtotext | xargs | grep -x '1 1 1 1 0 1 1 1 1'
	for c in '8 4 200 .5' '4 8 200 .2' '26 6 10 .5' '18 6 10 .5' '6 26 10 .1'; do
		read -r c other depth least <<<"$c"
		gen --type=float noise 30 200 | rawaxes --split=1:$depth | rawmath --type=uchar "a > $least" >b
		rawlabel -c $c --fill-holes b | rawmath --type=uchar 'a > 0' | rawtotext | cmp - <(morphrec -c $other --fill-holes b | rawtotext)
	done
}

@test "--by=distance cuts things where they are narrow, and measures their values" {
	local discs='hypot(x - 12, y - 16) < 11 || hypot(x - 28, (y - 16) / 2) < 7'
	rawmath --sizes=40,32 --type=uchar "($discs) * (x + 1)" | sed 's/^sizes.*/&\nspacings: .5 .25/' >a
	same <(rawlabel --split=.4 --by=distance a | rawtotext) "$(rawdist a | rawlabel --split=.4 | rawtotext)"
	same <(rawlabel --split=.4 --by=distance --to=csv a | cut -d, -f10 | xargs) 'peak 35 22'
	same <(rawlabel --split=1 --to=csv a | wc -l) 2
	fails 2 '--by: goes with --split' rawlabel --by=distance a
	fails 2 '--labels: goes without --above, --fill-holes' rawlabel --labels --fill-holes a
}

@test "--labels: labels that touch stay apart, keep their numbers, and need not touch themselves" {
	pgm 5 2 9 7 7 3 0 7 3 3 3 0 0 >a.pgm
	lines <(rawlabel --labels a.pgm | rawtotext) '7 7 3 0 7/3 3 3 0 0'
	lines <(rawlabel --labels --to=csv --values=<(rawmath 'x' a.pgm) a.pgm | cut -d, -f 1,2,3,5,9) 'label,size,xmin,xmax,sum/7,3,0,4,5/3,4,0,2,5'
	lines <(rawlabel --labels --min-size=4 a.pgm | rawtotext) '0 0 3 0 0/3 3 3 0 0'
	same <(rawlabel --labels --min-size=4 --to=table a.pgm | rawtotext | cut -d' ' -f1,2) '3 4'
	gen --type=int values 3x1 2147483647 0 2147483646 | rawlabel --labels | rawtotext | grep -x '2147483647 0 2147483646'
	fails 1 '--labels: sample 1 is 0.5, not a whole number' rawlabel --labels <(gen --type=float values 2x1 1 .5)
	fails 2 '--labels: goes without --above' rawlabel --labels --above=3 a.pgm
}

@test "--drop leaves out what touches the border, and small areas" {
	pgm 5 5 9 1 0 0 0 0 0 0 2 2 0 0 0 2 0 0 0 0 0 0 3 0 4 0 0 0 >a.pgm
	lines <(rawlabel --drop=border a.pgm | rawtotext) '0 0 0 0 0/0 0 1 1 0/0 0 1 0 0/0 0 0 0 0/0 0 0 0 0'
	same <(rawlabel --drop=border --to=csv a.pgm | sed 1d | cut -d, -f 1,2,24) '1,3,0'
	item uchar '4 1' 'spacings: 2 .5' -- 1 1 0 1 | rawlabel --drop=2 | rawtotext | grep -x '1 1 0 0'
	# The border of a volume is on six sides; an axis of one sample has none.
	gen --type=uchar values 3x3x3 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 >b
	rawlabel -c 26 --drop=border --to=csv b | wc -l | grep -x 1
	gen --type=uchar values 3x1x1 0 1 0 | rawlabel -c 26 --drop=border | rawtotext | grep -x '0 1 0'
	fails 2 "--drop: 'edge' is not a number" rawlabel --drop=edge a.pgm
}

@test "--above finds thresholds: Otsu's, the triangle's, a percentile" {
	pgm 8 1 99 1 2 2 3 50 51 51 90 >a.pgm
	for way in 'otsu 3 0 0 0 0 1 1 1 1' '50% 26.5 0 0 0 0 1 1 1 1' '100% 90 0 0 0 0 0 0 0 0' '0% 1 0 1 1 1 1 1 1 1'; do
		read -r how t labels <<<"$way"
		same <(rawlabel -v --above="$how" a.pgm 2>err | rawtotext) "$labels"
		same <(tail -n 1 err) "rawlabel: a.pgm: item 1: --above=$how is $t"
	done
	rawlabel --above=otsu a.pgm 2>&1 >/dev/null | cmp - /dev/null
	# The peak of 4 at 0 and the end at 4: the line is at 4 3 2 1 0, and the bin of 1 at 2 lies 1 below it, as does that at 3.
	pgm 10 1 9 0 0 0 0 1 1 1 2 4 4 >b.pgm
	rawlabel -v --above=triangle b.pgm 2>&1 >/dev/null | grep -x 'rawlabel: b.pgm: item 1: --above=triangle is 3'
	# Floats have 256 bins: 0 is in the first, which has its middle at 1 / 512.
	gen --type=float values 3x1 0 0 1 | rawlabel -v --above=otsu 2>&1 >/dev/null | grep -x 'rawlabel: (stdin): item 1: --above=otsu is 0.001953125'
	pgm 3 1 9 5 5 5 >c.pgm
	rawlabel -v --above=otsu a.pgm c.pgm 2>&1 >/dev/null | grep -c 'is [35]$' | grep -x 2
	same <(rawlabel --above=otsu --split=5 a.pgm | rawtotext) '0 0 0 0 1 1 1 1'
	# Each picture of a stack has its own, as channels and frames need.
	same <(gen --type=uchar values 3x1x2 1 50 51 101 102 200 | rawlabel --above=otsu | rawtotext | xargs) '0 1 1 0 0 1'
	fails 1 '--above=otsu: its samples give no threshold' rawlabel --above=otsu -o out <(gen --type=float values 2x1 nan nan)
	fails 2 '--above: 101% is not in 0%..100%' rawlabel --above=101% a.pgm
	fails 2 "--above: 'ostu' is not a number" rawlabel --above=ostu a.pgm
}

@test "--grow: labels grow to the nearest, the lowest of equals, and do not merge" {
	pgm 7 3 9 0 0 0 0 0 0 0 0 1 0 0 0 2 0 0 0 0 0 0 0 0 >a.pgm
	lines <(rawlabel --grow=1 a.pgm | rawtotext) '0 1 0 0 0 2 0/1 1 1 0 2 2 2/0 1 0 0 0 2 0'
	lines <(rawlabel --grow=2 a.pgm | rawtotext) '1 1 1 0 2 2 2/1 1 1 1 2 2 2/1 1 1 0 2 2 2'
	lines <(rawlabel --labels --grow=2 --to=csv a.pgm | cut -d, -f 1,2,9) 'label,size,sum/1,10,1/2,9,2'
	item uchar '4 1' 'spacings: .5 1' -- 0 0 0 9 | rawlabel --grow=1 | rawtotext | grep -x '0 1 1 1'
	# Small ones are left out before they grow.
	pgm 5 1 9 1 0 0 2 2 | rawlabel --min-size=2 --grow=9 | rawtotext | grep -x '1 1 1 1 1'
	item uchar '1 1 3' -- 1 0 0 | rawlabel -c 6 --grow=1 | rawtotext | paste -sd ' ' | grep -x '1 1 0'
	fails 2 '--grow' rawlabel --grow=0 a.pgm
}

@test "--shape: perimeter, feret, solidity and surface, by hand" {
	# A square of 3: 8 pixels in its border, of which each has two neighbours there. The middles of opposite sides: sqrt(3^2 + 2^2).
	pgm 5 5 9 0 0 0 0 0 0 1 1 1 0 0 1 1 1 0 0 1 1 1 0 0 0 0 0 0 >a.pgm
	lines <(rawlabel --shape --to=csv a.pgm | cut -d, -f 25-27) 'perimeter,feret,solidity/8,3.60555128,1'
	# An L of 5: the hull has one pixel more, whose centre lies on its side.
	pgm 3 3 9 1 0 0 1 0 0 1 1 1 >b.pgm
	same <(rawlabel --shape --to=csv b.pgm | sed 1d | cut -d, -f 27) 0.833333333
	item uchar '3 1' 'spacings: 2 2' -- 1 1 1 | rawlabel --shape --to=csv | sed 1d | cut -d, -f 25-26 | grep -x '2,6'
	item uchar '3 1' 'spacings: 2 1' -- 1 1 1 | rawlabel --shape --to=csv | sed 1d | cut -d, -f 25-26 | grep -x 'nan,6'
	# One voxel: 2 sum c N V / d, with 2 changes along each direction.
	item uchar '1 1 1' -- 1 | rawlabel -c 26 --shape --to=csv | sed 1d | cut -d, -f 30 >one
	awk '{ d = 4 * (6 * .04577789120476 + 12 * .03698062787608 / sqrt(2) + 8 * .03519563978232 / sqrt(3)) - $1; exit d * d > 1e-14 }' one
	# Twice as large along each axis: four times the surface; and where the steps differ, c is counted.
	item uchar '1 1 1' 'spacings: 2 2 2' -- 1 | rawlabel -c 26 --shape --to=csv | sed 1d | cut -d, -f 30 | paste - one | awk '{ exit ($1 - 4 * $2) ^ 2 > 1e-12 }'
	item uchar '1 1 1' 'spacings: 1 1 1.000001' -- 1 | rawlabel -c 26 --shape --to=csv | sed 1d | cut -d, -f 30 | paste - one | awk '{ exit ($1 - $2) ^ 2 > 1e-7 }'
	# Volumes: one voxel; a box, whose furthest middles differ by 2, 3 and 4 + 1; a line; the L of above, twice; a ball with a radius of 2.
	ball=$(awk 'BEGIN { for (i = 0; i < 125; i++) print (i % 5 - 2) ^ 2 + (int(i / 5) % 5 - 2) ^ 2 + (int(i / 25) - 2) ^ 2 <= 4 }')
	while IFS=/ read -r sizes steps want samples; do
		same <(item uchar "$sizes" "spacings: $steps" -- $samples | rawlabel -c 26 --shape --to=csv | sed 1d | cut -d, -f 31-32) "$want"
	done <<-END
		1 1 1/1 2 3/3,1/1
		3 4 5/1 1 1/6.164414,1/$(printf '1 %.0s' {1..60})
		1 4 1/1 .5 1/2,1/1 1 1 1
		3 3 2/1 1 1/3.74165739,0.833333333/1 0 0 1 0 0 1 1 1 1 0 0 1 0 0 1 1 1
		5 5 5/1 1 2/10,1/${ball//$'\n'/ }
	END
	fails 2 '--shape: goes with --to=csv' rawlabel --shape a.pgm
}

@test "outlines are polygons of pixel edges, with holes, and in parts that touch in corners" {
	pgm 3 3 9 1 1 1 1 0 1 1 1 1 >a.pgm
	same <(rawlabel --to=wkt a.pgm) 'POLYGON ((2.5 -0.5, 2.5 2.5, -0.5 2.5, -0.5 -0.5, 2.5 -0.5), (1.5 1.5, 1.5 0.5, 0.5 0.5, 0.5 1.5, 1.5 1.5))'
	pgm 2 2 9 1 0 0 1 >b.pgm
	same <(rawlabel --to=wkt b.pgm) 'MULTIPOLYGON (((0.5 -0.5, 0.5 0.5, -0.5 0.5, -0.5 -0.5, 0.5 -0.5)), ((1.5 0.5, 1.5 1.5, 0.5 1.5, 0.5 0.5, 1.5 0.5)))'
	[ "$(rawlabel -c 4 --to=wkt b.pgm | grep -c '^POLYGON')" -eq 2 ]
	# The ends of a C meet in a corner: its hole touches its outer ring there.
	pgm 3 3 9 1 1 1 1 0 1 1 1 0 >c.pgm
	rawlabel --to=wkt c.pgm | grep -x 'POLYGON (([^()]*), ([^()]*))'
	item uchar '2 1' 'spacings: 2 1' 'axis mins: 10 0' -- 0 1 | rawlabel --to=wkt | grep -x 'POLYGON ((13 -0.5, 13 0.5, 11 0.5, 11 -0.5, 13 -0.5))'
	# On a map whose rows go south, the ring goes round the other way in pixels, and to the left on the map.
	on_map '1000 10 0 2000 0 -10' 'crs:=EPSG:32633' -- 0 0 0 0 0 1 0 0 0 0 0 0 >d
	same <(rawlabel --to=geojson d) '{"type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32633"}}, "features": [
{"type": "Feature", "properties": {"label": 1, "item": 0}, "geometry": {"type": "Polygon", "coordinates": [[[1020, 1990], [1010, 1990], [1010, 1980], [1020, 1980], [1020, 1990]]]}}
]}'
	same <(rawlabel --labels --to=geojson a.pgm b.pgm | grep -c Feature) 3
	pgm 2 1 9 0 0 | rawlabel --to=geojson | tail -n 1 | grep -Fx ']}'
	fails 1 'its map is of another system' rawlabel --to=geojson -o out d a.pgm
	fails 2 '--to: outlines are those of pictures' rawlabel -c 26 --to=wkt a.pgm
}

@test "a threshold chooses, values are measured, NaN is never chosen" {
	gen --type=float -- values 4x1 1 nan -3 5 >a
	gen --type=float values 4x1 10 20 30 40 >b
	same <(rawlabel --above=0.5 a | rawtotext) '1 0 0 2'
	same <(rawlabel a | rawtotext) '1 0 2 2'
	lines <(rawlabel --values=b --to=csv a | cut -d, -f 2,9) 'size,sum/1,10/2,70'
	gen --type=float -- values 4x1 1 2 nan 4 >b
	lines <(rawlabel --values=b --to=csv a | cut -d, -f 9) 'sum/1/nan'
}

@test "integers of 64 bits are compared exactly, or refused by name" {
	{ item float 4 -- | sed 's/float/int64/' && perl -e 'print pack("q<*", 9007199254740993, 9007199254740992, -9007199254740993, 5)'; } >a
	while read -r t labels; do
		same <(rawlabel --above="$t" a | rawtotext) "$labels"
	done <<-'END'
		9007199254740992 1 0 0 0
		9007199254740991 1 1 0 0
		-9007199254740992 1 1 0 2
		1e30 0 0 0 0
		-1e30 1 1 1 1
	END
	fails 2 "--above: '9007199254740993' has more digits than a double" rawlabel --above=9007199254740993 a
	fails 1 'a: sample 0 is an integer from 2^53 on' rawlabel --split=0 a
	rawtile --grid=2x1 --only=1 a | rawjoin --fill=9007199254740993 >b
	same <(samples b) '9007199254740993 9007199254740993 -9007199254740993 5'
}

@test "a part of a picture gives places in the whole, and a flipped picture the box in ascending positions" {
	item float '2 2' 'spacings: .5 2' 'axis mins: 10 -1' -- 0 0 0 3 >a
	same <(rawlabel --to=csv a | sed 1d | cut -d, -f 3-14) '10.5,1,10.5,1,10.5,1,3,3,10.5,1,10.5,1'
	item float '4 2' 'axis mins: 3 0' 'spacings: -1 1' -- 0 7 7 0 0 7 7 0 >x
	same <(rawlabel --to=csv x | tail -n 1 | cut -d, -f3-8) 1,0,2,1,1.5,0.5
}

# on_map G LINE... -- SAMPLE...: a picture of 4 by 3 samples with this geotransform.
on_map() {
	item short '4 3' "geotransform:=$1" "${@:2}"
}

@test "--map gives places on the map: centres of samples, and boxes around their areas" {
	on_map '1000 10 0 2000 0 -10' -- 0 0 0 0 0 1 3 0 0 0 0 0 >a
	same <(rawlabel --map --to=csv a | sed 1d) '1,2,1010,1980,1030,1990,1020,1985,4,3,1025,1985,1022.5,1985,18.75,0,0,1,1,200,20,0,0,0,0'
	same <(rawlabel --map --to=table a | rawtotext | cut -d ' ' -f 7,8) '1020 1985'
	# A part, a flip, and samples of 2 by 1 pixels lie where they lay.
	for cut in --crop=0:1:4 --crop=1:1:2 --flip=1 --flip=0,1; do
		rawaxes $cut a | rawlabel --map --to=csv | cut -d, -f 2-11 | cmp - <(rawlabel --map --to=csv a | cut -d, -f 2-11)
	done
	item short '3 1' 'spacings: 2 1' 'axis mins: 2.5 0' 'geotransform:=100 10 0 500 0 -10' -- 0 7 0 >b
	same <(rawlabel --map --to=csv b | sed 1d | cut -d, -f 3-8) '140,490,160,500,150,495'
	item short 3 'geotransform:=100 10 0 500 0 -10' -- 0 7 0 >c
	same <(rawlabel --map --to=csv c | sed 1d | cut -d, -f 3-8) '110,490,120,500,115,495'
	# Rotated: column 1.5, row 1.5 is at 100 + 3 * 1.5 + 4 * 1.5, 500 + 4 * 1.5 - 3 * 1.5.
	on_map '100 3 4 500 4 -3' -- 0 0 0 0 0 1 0 0 0 0 0 0 >d
	same <(rawlabel --map --to=csv d | sed 1d | cut -d, -f 3-8) '107,498,114,505,110.5,501.5'
	# Along a row the variance of places is that of columns, turned.
	on_map '100 3 4 500 4 -3' -- 1 1 1 0 0 0 0 0 0 0 0 0 | rawlabel --map --to=csv | sed 1d | cut -d, -f 15-17,20-23 >e
	same e '6,10.6666666667,8,75,16.3299316186,0,53.1301023542'
	on_map '6.25 .000277777777777778 0 45.75 0 -.000277777777777778' -- 0 0 0 0 0 1 0 0 0 0 0 0 >f
	same <(rawlabel --map --to=csv f | sed 1d | cut -d, -f 7,8) '6.25041666667,45.7495833333'
	item short '2 2 2' 'geotransform:=100 10 0 500 0 -10' -- 0 0 0 0 0 0 0 1 | rawlabel -c 6 --map --to=csv >g
	same <(sed 1d g | cut -d, -f 3-11) '110,480,1,120,490,1,115,485,1'
	item short '2 1' -- 1 2 >h
	fails 1 'h: item 1: it has no geotransform:= that places it on a map; see tifftoraw' rawlabel --map --to=csv h
	fails 2 '--map: goes with --to=csv and --to=table; labels have no places' rawlabel --map a
}

@test "csv has all digits of whole numbers, and one set of columns" {
	gen --type=uint values 2x1 4294967295 4000000001 >a
	same <(rawlabel --to=csv a | sed 1d | cut -d, -f 9-10) '8294967296,4294967295'
	gen --type=uchar values 2x1x1 1 0 >volume
	same <(rawlabel -c 26 --to=csv volume | sed 1d | cut -d, -f 3-11) '0,0,0,0,0,0,0,0,0'
	gen --type=uchar values 2x1 1 0 >picture
	fails 1 'its table has other columns' rawlabel -c 26 --to=csv -o out volume picture
}

@test "pictures of a stack are labelled one by one" {
	gen --type=uchar values 2x1x3 1 0 0 1 1 1 >a
	lines <(rawlabel a | rawtotext | grep .) '1 0/0 1/1 1'
	fails 1 'a stack of pictures or a volume' rawlabel --to=csv a
	same <(rawlabel --slices --to=csv a | awk -F, '{ print $1, $2, $NF }' | paste -sd ,) 'label size item,1 1 0,1 1 1,1 2 2'
}

@test "no component is no table, and a header of csv" {
	gen --type=uchar values 2x1 0 0 >a
	same <(rawlabel a | rawtotext) '0 0'
	[ "$(rawlabel --to=csv a | wc -l)" -eq 1 ]
	fails 1 'a table cannot be empty' rawlabel --to=table a
}

@test "shapes that differ, colours and wrong options are refused by name" {
	gen noise 3 2 >a.pgm
	gen noise 2 3 >b.pgm
	fails 2 '--values: goes with --to=csv' rawlabel --values=a.pgm a.pgm
	fails 1 '--values: the shapes differ' rawlabel --to=csv --values=b.pgm a.pgm
	fails 1 '--values has no more items' bash -c 'cat a.pgm a.pgm | rawlabel --to=csv -o out --values=a.pgm'
	fails 1 'two.pgm: it has more items than a.pgm' bash -c 'cat a.pgm a.pgm >two.pgm; rawlabel --to=csv -o out --values=two.pgm a.pgm'
	[ ! -e out ]
	rawtile --size=3x1 --only=0 a.pgm >top
	rawtile --size=3x1 --only=1 a.pgm >bottom
	fails 1 '--values: it is another part of a picture' rawlabel --quiet --to=csv --values=bottom top
	printf 'P6 1 1 255\nabc' >c.ppm
	fails 1 'of one plane' rawlabel c.ppm
	fails 2 "--connectivity: '5'" rawlabel -c 5 a.pgm
}

@test "parts are cut where peaks stand high enough above their saddle; a plateau between two is shared from both sides" {
	pgm 7 2 9 1 7 3 4 9 2 0 0 7 3 4 9 0 5 >a.pgm
	lines <(rawlabel --split=3 a.pgm | rawtotext) '1 1 1 2 2 2 0/0 1 1 2 2 0 3'
	lines <(rawlabel --split=4 a.pgm | rawtotext) '1 1 1 2 2 2 0/0 1 1 2 2 0 2'
	lines <(rawlabel --split=5 -c 4 a.pgm | rawtotext) '1 1 1 1 1 1 0/0 1 1 1 1 0 2'
	lines <(rawlabel --split=4 --above=3 a.pgm | rawtotext) '0 1 0 2 2 0 0/0 1 0 2 2 0 3'
	lines <(rawlabel --split=3 --to=csv a.pgm | cut -d, -f 2,9,10) 'size,sum,peak/5,21,7/5,28,9/1,5,5'
	fails 2 "--split: -1" rawlabel --split=-1 a.pgm
	pgm 9 1 9 9 1 1 1 1 1 1 1 5 >b.pgm
	same <(rawlabel --split=1 b.pgm | rawtotext) '1 1 1 1 1 2 2 2 2'
}

@test "markers spread from the highest samples down, and keep their numbers" {
	pgm 7 2 9 1 7 3 4 9 2 0 0 7 3 4 9 0 5 >a.pgm
	pgm 7 2 9 0 8 0 0 3 0 0 6 0 0 0 3 0 0 >m.pgm
	lines <(rawlabel --markers=m.pgm a.pgm | rawtotext) '8 8 8 3 3 3 0/0 8 8 3 3 0 3'
	lines <(rawlabel --markers=m.pgm --to=csv a.pgm | cut -d, -f 1,2,9,10) 'label,size,sum,peak/8,5,21,7/3,6,33,9'
	lines <(rawlabel --markers=m.pgm --min-size=6 --to=csv a.pgm | cut -d, -f 1,2) 'label,size/3,6'
	lines <(rawlabel --markers=m.pgm --above=3 a.pgm | rawtotext) '0 8 0 3 3 0 0/0 8 0 3 3 0 0'
	same <(rawlabel --markers=m.pgm --min-size=6 --to=table a.pgm | rawtotext | cut -d' ' -f1,2) '3 6'
}

@test "a plateau goes to the marker that reaches it first" {
	pgm 7 1 9 5 5 5 5 5 5 5 >a.pgm
	pgm 7 1 9 0 2 0 0 0 0 1 >m.pgm
	same <(rawlabel --markers=m.pgm a.pgm | rawtotext) '2 2 2 2 1 1 1'
	pgm 3 3 9 5 5 5 5 5 5 5 5 5 >b.pgm
	pgm 3 3 9 1 0 0 0 0 0 0 2 0 >n.pgm
	lines <(rawlabel --markers=n.pgm b.pgm | rawtotext) '1 1 1/1 1 2/2 2 2'
	# Each picture of a stack has markers of its own; a volume has not.
	rawstack a.pgm a.pgm >s.nrrd
	rawstack m.pgm <(pgm 7 1 9 0 0 0 4 0 0 0) >t.nrrd
	lines <(rawlabel --markers=t.nrrd s.nrrd | rawtotext) '2 2 2 2 1 1 1/4 4 4 4 4 4 4'
	lines <(rawlabel -c 6 --markers=t.nrrd s.nrrd | rawtotext) '2 2 2 4 1 1 1/2 2 4 4 4 1 1'
}

@test "markers that are no markers are refused" {
	pgm 4 1 9 1 2 3 4 >a.pgm
	pgm 4 2 9 1 2 3 4 1 2 3 4 >b.pgm
	rawmath --type=float 'a / 2' <a.pgm >c.nrrd
	fails 1 "--markers: the shapes differ" rawlabel --markers=b.pgm a.pgm
	fails 1 "sample 0 is 0.5" rawlabel --markers=c.nrrd a.pgm
	fails 1 "sample 1 is -1" rawlabel --markers=<(rawmath --type=short '1 - a' <a.pgm) a.pgm
	fails 1 "--markers has no more items" rawlabel --markers=a.pgm -o o.nrrd a.pgm a.pgm
	fails 1 "it has more items" rawlabel --markers=<(cat a.pgm a.pgm) -o o.nrrd a.pgm
	fails 2 "only one of --split and --markers" rawlabel --split=1 --markers=a.pgm a.pgm
	pgm 4 1 9 0 0 0 0 >z.pgm
	same <(rawlabel --markers=z.pgm a.pgm | rawtotext) '0 0 0 0'
}
