load lib

prepare() {
	pgm 5 1 9 0 5 7 3 8 >mask.pgm
	pgm 5 1 9 0 0 6 0 0 >marker.pgm
}

# floats NUMBER...: a raw item of one row.
floats() {
	item float "$# 1" -- "$@"
}

@test "a PGM is answered by a PGM of the same maxval, a raw item by a raw item" {
	morphrec -m mask.pgm marker.pgm >out.pgm
	[ "$(head -n 3 out.pgm | xargs)" = "P5 5 1 9" ]
	pgmtoraw marker.pgm | morphrec -m mask.pgm >out.nrrd
	[ "$(head -c 8 out.nrrd)" = NRRD0005 ]
	says maxval:=9 'history:=morphrec -m mask.pgm' <out.nrrd
	shows '0 5 6 3 3' morphrec --raw -m mask.pgm marker.pgm
}

@test "corners connect 8 neighbours, not 4; a stack is taken picture by picture, or as a volume" {
	pgm 2 2 9 9 0 0 9 >mask.pgm
	pgm 2 2 9 9 0 0 0 >marker.pgm
	morphrec -m mask.pgm marker.pgm | cmp - mask.pgm
	morphrec -c 4 -m mask.pgm marker.pgm | cmp - marker.pgm
	item uchar '5 1 2' -- 9 0 0 0 0 0 9 0 0 0 >mask.nrrd
	item uchar '5 1 2' -- 9 0 0 0 0 0 0 0 0 0 >marker.nrrd
	for case in 8=0 6=0 18=9 26=9; do
		same <(morphrec -c "${case%=*}" -m mask.nrrd marker.nrrd | rawtotext | grep . | tail -n 1) "0 ${case#*=} 0 0 0"
	done
}

@test "a marker above the mask is clipped, and warned of where that is most of it, by erosion too, and once for all planes" {
	pgm 5 1 9 0 9 0 0 0 >marker.pgm
	shows '0 5 5 3 3' morphrec -m mask.pgm marker.pgm
	hints '^morphrec: marker.pgm: 1 markers beyond the mask were clipped$' morphrec -v -m mask.pgm marker.pgm >out.pgm
	grep -q "marker.pgm: 5x1x1 uchar: 1 tiles of 5x1x1 in 1 units" stderr
	pgm 5 1 9 2 2 2 2 2 >mask.pgm
	while IFS='|' read -r samples options want; do
		pgm 5 1 9 $samples >marker.pgm
		morphrec $options -m mask.pgm marker.pgm 2>stderr >out.pgm
		[ "$(sed 's/morphrec: marker.pgm: \(.*\) the mask and was clipped, so most.*/\1/' stderr)" = "$want" ]
	done <<-END
		3 3 3 3 2||80 % of the marker is above
		3 3 3 2 2||
		3 3 3 3 2|--quiet|
		1 1 1 1 1||
		1 1 1 1 1|-e|100 % of the marker is below
		1 1 1 1 2|-e --method=heap|80 % of the marker is below
		3 3 3 3 3|-e|
		3 3 3 3 3|--max-mem=1M|100 % of the marker is above
	END
	rawstack --planes mask.pgm mask.pgm mask.pgm >mask.nrrd
	rawmath 'a + 1' mask.nrrd >marker.nrrd
	morphrec -m mask.nrrd marker.nrrd 2>stderr >out.nrrd
	[ "$(grep -c '100 % of the marker' stderr)" -eq 1 ]
}

@test "operators on a row, by hand" {
	while IFS='|' read -r maxval samples options want; do
		same <(echo "$options: $(pgm 5 1 $maxval $samples | morphrec $options | rawtotext)") "$options: $want"
	done <<-END
		9|0 5 7 3 8|--hmax=2|0 5 5 3 6
		9|0 5 7 3 8|--hdome=2|0 0 2 0 2
		9|0 5 7 3 8|--hmin=2|2 5 7 5 8
		9|0 5 7 3 8|--hmax=1e9|0 0 0 0 0
		9|0 5 7 3 8|--hmin=1e9|9 9 9 9 9
		9|3 3 1 9 2|--regmax|9 9 0 9 0
		9|3 3 1 9 2|--regmin|0 0 9 0 9
		255|0 0 0 0 0|--regmax|255 255 255 255 255
		255|0 0 0 0 0|--regmin|255 255 255 255 255
		255|4 4 4 4 4|--regmax|255 255 255 255 255
		255|255 255 255 255 255|--regmin|255 255 255 255 255
		9|4 4 4 0 9|--open=1|4 4 4 0 0
		9|5 5 5 9 0|--close=1|5 5 5 9 9
		9|4 4 4 0 9|--tophat=1|0 0 0 0 9
		9|1 7 5 2 9|--area=2|1 5 5 2 2
		9|1 7 5 2 9|--area-close=2|7 7 5 5 9
		9|1 7 5 2 9|--area=100|1 1 1 1 1
		9|4 8 3 4 5|--hysteresis=4,7|9 9 0 0 0
		9|4 8 3 4 5|--hysteresis=2.5,8|9 9 9 9 9
	END
	shows '9 4 3 6 6' morphrec -e -m <(pgm 5 1 9 9 4 2 6 1) <(pgm 5 1 9 9 9 3 9 9)
}

@test "operators on floats, by hand: 0 is a value like any other, where no marker arrives is an infinity" {
	while IFS='|' read -r samples options want; do
		same <(echo "$options: $(floats $samples | morphrec --nan=barrier $options | rawtotext)") "$options: $want"
	done <<-END
		0 2 1|--hmax=0.5|0 1.5 1
		-inf -inf|--regmax|1 1
		-1 0 -1 0 -0 1|--regmax|0 1 0 0 0 1
		1 -0 1 0 0 -1|--regmin|0 1 0 0 0 1
		0 nan 2 1|--area=2|0 nan 1 1
		nan 2 nan|--open=1|nan -inf nan
		nan 2 nan|--close=1|nan inf nan
		nan 2 nan|--tophat=1|nan 2 nan
	END
	shows '0 1 0' morphrec --regmax <(item double '3 1' -- -1 0 -1)
}

@test "options, markers and masks that cannot be are refused" {
	pgm 4 1 9 0 0 0 0 >short.pgm
	pgm 5 1 8 0 0 0 0 0 >other.pgm
	pgm 5 1 900 0 0 0 0 0 >wide.pgm
	pgm 5 1 9 0 0 10 0 0 >bad.pgm
	head -c 12 mask.pgm >cut.pgm
	(cat mask.pgm && echo more) >more.pgm
	cat mask.pgm mask.pgm >two.pgm
	floats 0 0 0 0 0 >float.nrrd
	floats 0 nan 1 nan 0 >nan.nrrd
	printf 'NRRD0005\ntype: int64\ndimension: 1\nsizes: 1\nendian: little\nencoding: raw\n\n12345678' >long.nrrd
	all_fail morphrec <<-END
		2|nothing to do|mask.pgm
		2|several operations|--hmax=1 --fill-holes mask.pgm
		2|several operations|--hmax=1 -m mask.pgm marker.pgm
		2|--dual|-e --hmax=1 mask.pgm
		2|not one of|-c 5 -m mask.pgm marker.pgm
		2|--hmax|--hmax=0 mask.pgm
		2|--hdome|--hdome=-1 mask.pgm
		2|--hmin|--hmin=nan mask.pgm
		1|H is 1.5: the samples are integers|--hmax=1.5 mask.pgm
		2|LO is above HI|--hysteresis=5,4 mask.pgm
		2|--hysteresis|--hysteresis=5 mask.pgm
		1|HI is 256|--hysteresis=5,256 mask.pgm
		2|--max-mem: goes with the method tile|--max-mem=1M --method=heap --hmax=1 mask.pgm
		2|--max-mem: not with --regmax|--max-mem=1M --regmax mask.pgm
		2|--max-mem: not with --regmax|--max-mem=1M --open=2 mask.pgm
		2|--max-mem: not with|--area=2 --max-mem=1M mask.pgm
		2|no reconstructions|--area=2 --method=heap mask.pgm
		1|the marker is 1x4x1x1 (planes, width, height, count), the mask mask.pgm 1x5x1x1|-m mask.pgm short.pgm
		1|the marker has maxval 8, the mask mask.pgm 9|-m mask.pgm other.pgm
		1|the marker is of type ushort, the mask mask.pgm of type uchar|-m mask.pgm wide.pgm
		1|the marker is of type uchar, the mask float.nrrd of type float|-m float.nrrd marker.pgm
		1|bad.pgm|-m bad.pgm marker.pgm
		1|cut.pgm|-m cut.pgm marker.pgm
		1|more.pgm|-m more.pgm marker.pgm
		1|more than one item|-m two.pgm marker.pgm
		1|64-bit integers|--hmax=1 long.nrrd
		1|2 samples are NaN, the first at x 1, y 0, slice 0; see --nan|--hmax=1 nan.nrrd
		1|2 samples are NaN|-m float.nrrd nan.nrrd
		1|2 samples are NaN|--area=2 nan.nrrd
	END
}

@test "--fill-holes fills what the frame does not reach, and --clear-border takes off what touches it" {
	shows '5 5 5 5 5/5 3 3 3 5/5 5 3 5 5' morphrec -c 4 --fill-holes <(pgm 5 3 9 5 5 5 5 5 5 0 1 0 5 5 5 3 5 5)
	morphrec --clear-border <(pgm 5 5 9 9 0 0 0 0 9 0 0 0 0 0 0 7 0 0 0 0 0 0 0 0 0 0 0 0) |
		cmp - <(pgm 5 5 9 0 0 0 0 0 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0 0 0 0 0 0)
}

@test "--shape: a plus holds the disk of radius 1, not the square; a diagonal holds its line" {
	pgm 5 5 9 0 0 0 0 0 0 0 7 0 0 0 7 7 7 0 0 0 7 0 0 0 0 0 0 0 >plus.pgm
	pgm 5 5 9 0 0 0 0 0 0 0 0 5 0 0 0 5 0 0 0 5 0 0 0 0 0 0 0 0 >diagonal.pgm
	while read -r f s want; do
		same <(echo "$f $s $(morphrec --open=1 --shape=$s $f.pgm | rawaxes --crop=0:1:4 --crop=1:1:4 | rawtotext | xargs)") "$f $s $want"
	done <<-'END'
		plus square 0 0 0 0 0 0 0 0 0
		plus disk 0 7 0 7 7 7 0 7 0
		plus line:45 0 0 0 0 0 0 0 0 0
		plus line:135 0 0 0 0 0 0 0 0 0
		diagonal square 0 0 0 0 0 0 0 0 0
		diagonal disk 0 0 0 0 0 0 0 0 0
		diagonal line:45 0 0 5 0 5 0 5 0 0
		diagonal line:135 0 0 0 0 0 0 0 0 0
	END
}

@test "--shape=FILE is the picture's pixels, R times" {
	pgm 3 1 9 0 1 1 >shape.pgm
	pgm 5 1 9 4 4 4 0 9 >in.pgm
	shows '4 4 4 0 9' morphrec --open=1 --shape=./shape.pgm in.pgm
	pgm 3 1 9 0 0 0 >shape.pgm
	fails 1 './shape.pgm: the shape has no pixel that is not 0' morphrec --open=1 --shape=./shape.pgm in.pgm
	printf 'P6 1 1 9 \1\1\1' >shape.ppm
	fails 1 'shape.ppm: a shape is a picture or a volume of one plane' morphrec --open=1 --shape=shape.ppm in.pgm
	item uchar '1 1 1 2' -- 1 1 >shape.nrrd
	fails 1 'shape.nrrd: a shape is a picture or a volume' morphrec --open=1 --shape=shape.nrrd in.pgm
}

@test "a shape of no pixel in the picture leaves the marker at the mask, floats too" {
	pgm 3 1 1 1 0 0 >left.pgm
	floats 1 2 1 >f.nrrd
	shows '1 1 1' morphrec --open=1 --shape=left.pgm f.nrrd
	shows '1 2 2' morphrec --close=1 --shape=left.pgm f.nrrd
}

@test "a radius with a unit is taken by the spacings of the axes" {
	item uchar '5 3' 'spacings: 1 2' 'units: "um" "um"' -- 0 0 0 0 0 7 7 7 7 7 0 0 0 0 0 >f.nrrd
	[ "$(morphrec --open=1um f.nrrd | rawtotext | sed -n 2p)" = '7 7 7 7 7' ]
	[ "$(morphrec --open=2um f.nrrd | rawtotext | sed -n 2p)" = '0 0 0 0 0' ]
	fails 1 'the radius is in mm, axis 0 of the item in um' morphrec --open=1mm f.nrrd
	fails 2 "--open: '1,' is not a number above 0, up to 1e9, that a unit may follow" morphrec --open=1, f.nrrd
	fails 1 'in no unit' morphrec --open=1um mask.pgm
	fails 2 "--open: '1.5' is not a whole number of pixels" morphrec --open=1.5 f.nrrd
	fails 2 'takes a radius in pixels' morphrec --open=1um --shape=line:0 f.nrrd
	fails 2 '--shape: goes with' morphrec --shape=disk --hmax=1 f.nrrd
	fails 1 '--shape=ball' morphrec --shape=ball --open=1 f.nrrd
	fails 2 '--shape=ball' morphrec --slices --shape=ball --open=1 f.nrrd
	fails 2 "--shape=line:abc: 'abc' is not a number of degrees" morphrec --shape=line:abc --open=1 f.nrrd
	fails 2 "'1,2' is not a number of degrees" morphrec --shape=line:1,2 --open=1 f.nrrd
	fails 2 "--shape: 'circle' is not square" morphrec --shape=circle --open=1 f.nrrd
	fails 1 'above 1000' morphrec --shape=disk --open=1001 f.nrrd
}

@test "a float marker takes a mask of 8 or 16 bits, and stays float; of 32 bits takes a double marker; both come in one stream" {
	floats 0 0 2 0 0 >marker.nrrd
	shows '0 2 2 2 2' morphrec -m mask.pgm marker.nrrd
	says 'type: float' <shown
	shows '0 1 2 1 1' morphrec -m <(pgm 5 1 999 0 1 9 1 500) marker.nrrd
	shows '7 7 7 7 8' morphrec -e -m mask.pgm <(floats inf inf 1 inf inf)
	item int 3 -- 2147483647 -2147483647 5 >mask.nrrd
	shows '2147483647 -2147483647 -2147483647' morphrec -m mask.nrrd <(item double 3 -- inf -inf -inf)
	fails 1 'the marker is of type float, the mask mask.nrrd of type int' morphrec -m mask.nrrd <(floats 0 0 0)
	morphrec --raw -m mask.pgm <(cat marker.nrrd marker.pgm marker.nrrd) >out
	(morphrec -m mask.pgm marker.nrrd && morphrec --raw -m mask.pgm marker.pgm && morphrec -m mask.pgm marker.nrrd) | cmp - out
}

@test "a colour picture is done plane by plane, each as a grey one" {
	printf 'P3 5 1 9  0 5 1  5 5 2  7 5 3  3 5 4  8 5 5\n' >mask.ppm
	printf 'P3 5 1 9  0 0 0  0 0 2  6 4 0  0 0 0  0 0 5\n' >marker.ppm
	shows '0 4 1/5 4 2/6 4 3/3 4 4/3 4 5' morphrec -m mask.ppm marker.ppm
	[ "$(head -c 2 shown)" = P6 ]
	diff <(morphrec --hmax=2 mask.ppm | rawtotext | cut -d' ' -f1) <(morphrec --hmax=2 mask.pgm | rawtotext | tr ' ' '\n')
	fails 1 'the marker is 1x5' morphrec -m mask.ppm marker.pgm
	fails 1 '--max-mem: takes grey pictures' morphrec --max-mem=1M -m mask.ppm marker.ppm
}

@test "of four axes each volume is done by itself, 8 neighbours take each slice; those of volumes on a picture are warned of" {
	item uchar '2 1 2 2' -- 2 2 2 2 2 2 2 2 >mask.nrrd
	item uchar '2 1 2 2' -- 1 0 0 0 0 0 0 2 >marker.nrrd
	[ "$(morphrec -c 6 -m mask.nrrd marker.nrrd | tail -c 8 | od -An -tu1 | xargs)" = "1 1 1 1 2 2 2 2" ]
	[ "$(morphrec -m mask.nrrd marker.nrrd | tail -c 8 | od -An -tu1 | xargs)" = "1 1 0 0 0 0 2 2" ]
	sed -i 's/^encoding/labels: "x" "y" "c" "z"\n&/' marker.nrrd
	fails 1 "axis 2 is \`c' and not z: rawaxes --order" morphrec -c 6 -m mask.nrrd marker.nrrd
	morphrec -m mask.nrrd marker.nrrd >out
	hints 'connectivity 26 is for volumes, and this item is a single picture; rawstack makes volumes' morphrec -c 26 -m mask.pgm marker.pgm >out.pgm
	remarks '' morphrec -c 26 --quiet -m mask.pgm marker.pgm >out.pgm
}

@test "a part of a picture: operators of the frame refuse it, others warn, marker and mask lie at one place" {
	rawtile --grid=2x1 --only=0 mask.pgm >mask.nrrd
	rawtile --grid=2x1 --only=0 marker.pgm >marker.nrrd
	rawtile --grid=1x1 mask.pgm >whole.nrrd
	fails 1 'its sides are cuts, not the frame' morphrec --fill-holes mask.nrrd
	fails 1 'its sides are cuts, not the frame' morphrec --clear-border mask.nrrd
	hints 'nothing comes from beyond its sides' morphrec --hmax=1 mask.nrrd >out.nrrd
	morphrec -m mask.nrrd --quiet marker.nrrd >out.nrrd
	remarks '' morphrec --fill-holes whole.nrrd >out.nrrd
	sed 's/^tile:=0 0/tile:=1 0/' mask.nrrd >moved.nrrd
	fails 1 'the marker lies at column 0, row 0 of a picture of 5x1, the mask moved.nrrd at column 1' \
		morphrec --quiet -m moved.nrrd marker.nrrd
}

@test "standard input is marker or mask, not both, and the output may be the mask's file" {
	fails 2 'stdin can be read only once' morphrec -m - - <mask.pgm
	shows '0 5 6 3 3' morphrec -m - marker.pgm <mask.pgm
	morphrec -m mask.pgm -o mask.pgm marker.pgm
	lines <(rawtotext mask.pgm) '0 5 6 3 3'
}

@test "--nan=barrier: a NaN of the mask is a wall, one of the marker marks nothing" {
	floats 2 1 -nan 1 2 >mask.nrrd
	shows '2 1 nan 0 0' morphrec --nan=barrier -m mask.nrrd <(floats 2 nan 1 0 nan)
	shows '-inf -inf nan 0 0' morphrec --nan=barrier -m mask.nrrd <(floats nan nan nan 0 nan)
}

@test "two threads have two units each of a volume of few tiles, and write the bytes of one" {
	{ item float '114 122 62' -- && gen --type=float noise 114 7564 | tail -c 3449184; } >f.nrrd
	hints 'in 4 units' morphrec -v -t 2 -c 26 --hmax=.2 f.nrrd >two.nrrd
	morphrec -t 1 -c 26 --hmax=.2 f.nrrd | tail -c 3449184 | cmp - <(tail -c 3449184 two.nrrd)
}

@test "less than a megabyte is done by one thread, and more by as many as are asked for" {
	for shape in 1023x1024:1 1024x1024:2 64x64x255:1 64x64x256:2; do
		IFS=x read -r w h d <<<"${shape%:*}"
		{ item uchar "$w $h ${d:-1}" -- && head -c $((w * h * ${d:-1})) /dev/zero; } >f.nrrd
		hints ", ${shape#*:} threads," morphrec --hmax=3 -c "${d:+2}6" -v -t 2 f.nrrd >g.nrrd
	done
}

@test "with --nan=frame, pixels beside a NaN are on the frame, and what is missing all round is not filled to infinity" {
	gen --type=float values 5x4 9 9 9 9 9 9 3 nan 9 9 9 9 9 2 9 9 9 9 9 9 >f.nrrd
	shows '9 9 9 9 9/9 9 nan 9 9/9 9 9 9 9/9 9 9 9 9' morphrec --fill-holes --nan=barrier f.nrrd
	shows '9 9 9 9 9/9 3 nan 9 9/9 9 9 2 9/9 9 9 9 9' morphrec --fill-holes --nan=frame f.nrrd
	shows '9 9 9 9 9/9 3 nan 9 9/9 9 9 9 9/9 9 9 9 9' morphrec --fill-holes --nan=frame -c 4 f.nrrd
	gen --type=float values 5x4 0 0 0 0 0 0 3 nan 1 0 0 0 0 2 0 0 0 0 0 0 >f.nrrd
	shows '0 0 0 0 0/0 0 nan 0 0/0 0 0 1 0/0 0 0 0 0' morphrec --clear-border --nan=frame -c 4 f.nrrd
	gen --type=float values 3x3x3 9 9 9 9 9 9 9 9 9 9 9 9 9 3 9 9 9 9 nan 9 9 9 9 9 9 9 9 >f.nrrd
	morphrec --fill-holes -c 26 --nan=frame f.nrrd | rawtotext | grep 3
	morphrec --fill-holes -c 18 --nan=frame f.nrrd | rawtotext | grep 3 && false
	fails 2 'nan=frame: goes with --fill-holes and --clear-border' morphrec --hmax=3 --nan=frame f.nrrd
	gen --type=float smooth 200 100 4 | rawmath 'hypot(x - 100, y - 50) > 45 ? nan : a' >f.nrrd
	morphrec --fill-holes --nan=frame f.nrrd >want.nrrd
	rawinfo want.nrrd | grep -q 'inf:' && false
	rawmath 'a < b || isnan(a) != isnan(b)' want.nrrd f.nrrd | rawinfo | grep 'max: 0'
	for t in 1 2 3; do
		morphrec --fill-holes --nan=frame -t $t --max-mem=1 f.nrrd | tail -c 80000 | cmp - <(tail -c 80000 want.nrrd)
	done
}

@test "--max-mem gives the same bytes, in bands, with an operator too, and holds the memory down" {
	gen noise 500 700 >mask.pgm
	gen seeds 500 700 20 >marker.pgm
	morphrec -m mask.pgm marker.pgm >want.pgm
	morphrec --max-mem=100k -t 2 -m mask.pgm marker.pgm | cmp - want.pgm
	morphrec --max-mem=1 -t 1 -m mask.pgm <marker.pgm | cmp - want.pgm
	morphrec --max-mem=1 -t 1 -m - marker.pgm <mask.pgm | cmp - want.pgm
	gen noise 500 700 --type=float >marker.nrrd
	morphrec -m mask.pgm marker.nrrd | tail -c 1400000 >want.raw
	morphrec --max-mem=1 -t 1 -m mask.pgm marker.nrrd | tail -c 1400000 | cmp - want.raw
	morphrec --max-mem=1 -t 1 -m - marker.nrrd <mask.pgm | tail -c 1400000 | cmp - want.raw
	# Rows of 20 MB: more than one goes through memory at a time by itself.
	gen noise 500 700 >f.pgm
	gen noise 300 200 --type=float >f.nrrd
	printf 'P5\n20000000 3\n255\n' >wide.pgm
	yes weir | head -c 60000000 >>wide.pgm
	for o in --hmax=9 --hmin=9 --hdome=9 --fill-holes --clear-border --hysteresis=99,200; do
		morphrec "$o" f.pgm >want.pgm
		morphrec --max-mem=1 -t 2 "$o" f.pgm | cmp - want.pgm
	done
	for o in --hmax=.1 --hmin=.1 --hdome=.1 --fill-holes --clear-border --hysteresis=.4,.8; do
		morphrec "$o" f.nrrd | tail -c 240000 >want.raw
		morphrec --max-mem=1 -t 1 "$o" <f.nrrd | tail -c 240000 | cmp - want.raw
	done
	for o in --hdome=2 --fill-holes; do
		morphrec "$o" wide.pgm >want.pgm
		morphrec --max-mem=1 "$o" wide.pgm | cmp - want.pgm
	done
	gen ramp 8192 8192 >mask.pgm # 64 MiB; all in memory it takes twice that
	morphrec --max-mem=4M --stats=stats -m mask.pgm mask.pgm | cmp - mask.pgm
	[ "$(grep -o '"peak_bytes": [0-9]*' stats | grep -o '[0-9]*')" -lt 60000000 ]
}

@test "--max-mem names the directory that has no room, and a file that is too large for any" {
	gen noise 40 30 >f.pgm
	TMPDIR=$PWD/nowhere fails 1 "no temporary file for 1200 bytes in $PWD/nowhere: No such file" morphrec --max-mem=1M --hmax=3 f.pgm
	printf 'NRRD0005\ntype: uchar\ndimension: 2\nsizes: 1000000000 1000000000\nencoding: raw\n\n' >huge.nrrd
	truncate -s 1000000000000000100 huge.nrrd || skip "this file system has no file of 10^18 bytes"
	fails 1 'huge.nrrd' morphrec --max-mem=1M -m huge.nrrd huge.nrrd
}

@test "--node and --heaps: the same bytes; they go with the method heap" {
	gen noise 60 50 >f.pgm
	morphrec --fill-holes f.pgm >want.pgm
	for o in '--node=1 -t 1' '--node=7 --heaps=5 -t 1' '--heaps=1 -t 2' '--node=1000 --heaps=1000 -t 2'; do
		morphrec --method=heap $o --fill-holes f.pgm | cmp - want.pgm
	done
	fails 2 '--node and --heaps: go with --method=heap' morphrec --node=9 --fill-holes f.pgm
	fails 2 "--node: '0' is not a whole number" morphrec --method=heap --node=0 --fill-holes f.pgm
}

@test "--stats: visits of tiles; of the heaps how many pixels rose, and how often" {
	pgm 5 1 9 0 7 5 5 5 >mask.pgm
	pgm 5 1 9 0 3 0 0 5 >marker.pgm
	morphrec --stats=s.json -m mask.pgm marker.pgm >out.pgm
	grep -q '"tiles": 1, "visits": 1, "floods": 0' s.json
	morphrec --method=heap -t 1 --stats=s.json -m mask.pgm marker.pgm >out.pgm
	grep -q '"risen": 3, "rises": [3-9], "stale": [0-9]' s.json
	# Nothing rises where the marker is the mask.
	morphrec --method=heap --stats=s.json -m mask.pgm mask.pgm >out.pgm
	grep -q '"risen": 0, "rises": 0, "stale": 0' s.json
}

@test "a picture that several threads look over: clipping and counts are those of one" {
	gen noise 2000 1100 >mask.pgm
	morphrec --hmax=30 mask.pgm >marker.pgm
	for t in 1 2 3; do
		morphrec -v -t $t -m marker.pgm mask.pgm 2>stderr >out.$t
		grep 'markers beyond the mask were clipped' stderr >said.$t
		cmp said.1 said.$t && cmp out.1 out.$t
	done
}

@test "dilation and erosion are the extremes within the shape, of which openings by reconstruction are made" {
	gen noise 50 40 >f.pgm
	for shape in square disk line:45; do
		morphrec --open=2 --shape=$shape f.pgm | cmp - <(morphrec --erode=2 --shape=$shape f.pgm | morphrec -m f.pgm)
		morphrec --close=2 --shape=$shape f.pgm | cmp - <(morphrec --dilate=2 --shape=$shape f.pgm | morphrec -e -m f.pgm)
	done
	gen --type=float -- values 3x1x2 1 -2 3 4 5 -6 >v.nrrd
	[ "$(morphrec --dilate v.nrrd | rawtotext | paste -sd ' ')" = '1 3 3 5 5 5' ]
	[ "$(morphrec -c 26 --erode v.nrrd | rawtotext | paste -sd ' ')" = '-2 -6 -6 -2 -6 -6' ]
	morphrec --erode -m f.pgm f.pgm | cmp - f.pgm
	fails 2 'are no reconstructions: not with -g or --method' morphrec --dilate --method=heap f.pgm
}
