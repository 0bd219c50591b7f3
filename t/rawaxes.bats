load lib

# rawaxes: axes cut, sliced, flipped and in another order.

@test "cut, slice, flip and order, by hand" {
	gen --type=short values 3x2x2 {1..12} >a
	lines <(rawaxes --crop=0:1:3 a | rawtotext | grep .) '2 3/5 6/8 9/11 12'
	lines <(rawaxes --slice=2:1 a | rawtotext) '7 8 9/10 11 12'
	same <(rawaxes --slice=1:0 --slice=0:2 a | rawtotext) '3 9'
	lines <(rawaxes --flip=0,2 a | rawtotext | grep .) '9 8 7/12 11 10/3 2 1/6 5 4'
	lines <(rawaxes --order=2,0,1 a | rawtotext | grep .) '1 7/2 8/3 9/4 10/5 11/6 12'
	same <(rawaxes --slice=0:1 --slice=1:1 --slice=2:1 a | rawtotext) 11
	lines <(rawaxes --slice=1:1 --flip=0 --order=2,0 a | rawtotext) '6 12/5 11/4 10'
}

@test "every order of axes of every type is that of the definition, by way of pipes and files" {
	for type in uchar ushort float double; do
		gen --type=$type values 5x4x3 {1..60} >a
		for order in 0,1,2 0,2,1 1,0,2 1,2,0 2,0,1 2,1,0; do
			perl -e '@o = split /,/, shift; @n = (5, 4, 3); @s = (1, 5, 20);
				for $k (0 .. $n[$o[2]] - 1) { for $j (0 .. $n[$o[1]] - 1) { for $i (0 .. $n[$o[0]] - 1) {
					print 1 + $i * $s[$o[0]] + $j * $s[$o[1]] + $k * $s[$o[2]], "\n" } } }' $order >want
			rawaxes --order=$order a | rawtotext | tr ' ' '\n' | grep . | cmp - want
			cat a | rawaxes --order=$order | rawtotext | tr ' ' '\n' | grep . | cmp - want
		done
	done
}

@test "positions, labels and units follow their axes" {
	item float '3 2' 'centers: node node' 'spacings: .5 2' 'axis mins: 10 -1' 'labels: "x" "y"' -- 1 2 3 4 5 6 >a
	rawaxes --crop=0:1:3 --flip=0 --order=1,0 a | says 'spacings: 2 -0.5' 'axis mins: -1 11' 'labels: "y" "x"'
	rawaxes --flip=0 a | rawaxes --flip=0 | rawinfo | grep -x 'axis mins: 10 -1'
}

@test "positions of an axis without a spacing count by 1" {
	item float '4 1' 'centers: node none' 'axis mins: 10 nan' -- 1 2 3 4 >a
	rawaxes --crop=0:0:3 a | rawinfo | grep -x 'axis mins: 10 nan'
	same <(rawaxes --crop=0:2:4 a | rawmath x | rawtotext) '12 13'
	same <(rawaxes --flip=0 a | rawmath x | rawtotext) '13 12 11 10'
	same <(rawtile --grid=2x1 a | rawmath x | rawjoin | rawtotext) '10 11 12 13'
	rawtile --grid=2x1 a | rawjoin | rawinfo | grep -x 'axis mins: 10 nan'
}

@test "a part of a picture keeps its place" {
	item float '3 2' 'tile:=4 6 10 20' 'geotransform:=1 2 3 4 5 6' -- 1 2 3 4 5 6 >a
	rawaxes --crop=0:1:3 a | rawinfo | grep -x 'tile:=5 6 10 20'
	rawaxes --flip=0,1 a | rawinfo | grep -x 'tile:=3 12 10 20'
	rawaxes --order=1,0 a | rawinfo | grep -x -e 'tile:=6 4 20 10' -e 'geotransform:=1 3 2 4 6 5' | wc -l | grep 2
	run -1 eval 'rawaxes --slice=0:1 a | rawinfo | grep tile'
}

# offsets: the numbers of the offsets of the item on stdin.
offsets() {
	rawinfo | sed -n 's/^offsets:=//p'
}

@test "the offsets of traces follow cuts, flips, slices and orders" {
	item float '2 4' 'offsets:=10 20.5 30 40' 'offset-x:=1 2 3 4' -- {1..8} >a
	[ "$(rawaxes --crop=1:1:3 a | offsets)" = '20.5 30' ]
	[ "$(rawaxes --crop=1:1:4 --flip=1 a | offsets)" = '40 30 20.5' ]
	[ "$(rawaxes --slice=1:3 a | offsets)" = 40 ]
	[ "$(rawaxes --order=1,0 a | rawaxes --order=1,0 | offsets)" = '10 20.5 30 40' ]
	rawaxes --crop=1:1:3 a | rawinfo | grep -x 'offset-x:=2 3'
	item float '2 3 2' 'offsets:=1 2 3 4 5 6' -- {1..12} >b
	[ "$(rawaxes --crop=1:1:3 --flip=2 b | offsets)" = '5 6 2 3' ]
	[ "$(rawaxes --order=0,2,1 b | offsets)" = '1 4 2 5 3 6' ]
	[ "$(rawaxes --order=0,2,1 --crop=1:0:2 --flip=1 b | offsets)" = '2 5 1 4' ]
	[ "$(rawaxes --slice=2:1 b | offsets)" = '4 5 6' ]
	item float '2 3 2' 'offsets:=1 2 3' -- {1..12} >c
	[ "$(rawaxes --order=0,2,1 c | offsets)" = '1 1 2 2 3 3' ]
	[ "$(rawaxes --slice=1:2 c | offsets)" = '3 3' ]
	[ "$(rawaxes --flip=2 c | offsets)" = '1 2 3' ]
}

@test "FITS cards follow flips, cuts, slices and new orders" {
	[ -x "$B/rawtofits" ] || skip "rawtofits is not built"
	gen --type=short values 4x3x2 {1..24} >a
	for key in "CTYPE1:='RA---TAN'" "CTYPE2:='DEC--TAN'" CRPIX1:=2.0 CRPIX2:=3.0 CRPIX3:=1.0 CD1_1:=-0.5 CD1_2:=0.25 CD2_2:=1.5; do
		keys+="fits.$key"$'\n'
	done
	rawtofits a | fitstoraw >b
	{ sed -n '1,/^encoding/p' b && rawinfo b | grep ^fits && printf '%s\n' "${keys}" && tail -c 48 b; } >c
	rawaxes --order=1,0,2 c | rawtofits |
		has "CTYPE2:='RA---TAN'" CRPIX1:=3.0 CRPIX2:=2.0 CD2_2:=-0.5 CD2_1:=0.25 CD1_1:=1.5
	rawaxes --flip=0 c | rawtofits | has CRPIX1:=3.0 CD1_1:=0.5 CD1_2:=0.25
	rawaxes --slice=0:3 c | rawtofits | has CRPIX3:=-1.0 CRPIX1:=3.0 "CTYPE3:='RA---TAN'" "CTYPE1:='DEC--TAN'"
}

@test "axes are merged and split: the samples stay, and what described the axis goes or comes back" {
	item float '2 6 2' 'centers: none node none' 'spacings: nan .5 nan' 'axis mins: nan 3 nan' 'labels: "k" "t" "coil"' 'units: "" "s" ""' \
		'kinds: list domain domain' fits.CRPIX2:=1.0 fits.GAIN1:=2.0 geotransform:='0 1 0 0 0 1' -- {1..24} >a
	rawaxes --split=1:3 a >b
	says 'sizes: 2 3 2 2' 'spacings: nan 0.5 1.5 nan' 'axis mins: nan 3 3 nan' 'labels: "k" "t" "" "coil"' 'units: "" "s" "s" ""' \
		'kinds: list domain domain domain' fits.GAIN1:=2.0 <b
	run -1 grep -a -e CRPIX -e geotransform b
	diff <(samples a) <(samples b)
	rawaxes --merge=1,2 b | rawinfo | grep -x -e 'sizes: 2 6 2' -e 'spacings: nan 0.5 nan' -e 'axis mins: nan 3 nan' -e 'labels: "k" "t" "coil"' | wc -l | grep -x 4
	rawaxes --merge=1,2 a | rawinfo | grep -x -e 'sizes: 2 12' -e 'labels: "k" ""' | wc -l | grep -x 2
	rawaxes --merge=0,x,2 a | rawinfo | grep -x 'sizes: 24'
	rawaxes --merge=x,2 --split=1:4 a | rawinfo | grep -x 'sizes: 2 4 3'
	rawaxes --order=1,2,0 --merge=1,2 --split=0:2 a | rawinfo | grep -x 'sizes: 12 2 1'
	fails 1 '--merge: axis 2 is not behind axis 0' rawaxes --merge=0,2 a
	fails 2 '--merge: axis 1 is sliced away' rawaxes --slice=1:0 --merge=1,2 a
	fails 1 '--split: axis 1 has 6 samples, which 4 must divide' rawaxes --split=1:4 a
	fails 1 '--split: it has no axis 3' rawaxes --split=3:1 a
	fails 2 '--merge: 1 is one axis' rawaxes --merge=1 a
	fails 2 '--merge: axis 1 is named twice' rawaxes --merge=1,1 a
	fails 2 "--split: '1:0' is not AXIS:N" rawaxes --split=1:0 a
	item uchar '3 2' 'kinds: RGB-color domain' tupltype:=RGB -- 1 2 3 4 5 6 >c
	rawaxes --merge=0,1 c | rawinfo | grep -x 'kinds: domain'
	run -1 grep -a tupltype <(rawaxes --merge=0,1 c)
}

@test "lists of traces follow axes that are merged and split" {
	item float '1 2 3' 'offsets:=1 2' 'traces:=1 2 3 4 5 6' -- {1..6} >a
	rawaxes --merge=1,2 a >b
	grep -ax -e 'offsets:=1 2 1 2 1 2' -e 'traces:=1 2 3 4 5 6' b | wc -l | grep -x 2
	rawaxes --split=1:3 b | grep -ax 'offsets:=1 2 1 2 1 2'
	rawaxes --split=1:1 a | grep -ax 'offsets:=1 2'
	run -1 grep -a ^traces <(rawaxes --split=1:1 a)
	run -1 grep -a ^offsets <(rawaxes --merge=0,1 a)
	rawaxes --split=2:1 a | rawaxes --merge=2,3 | grep -ax 'offsets:=1 2'
}

# sip [KEY...]: a picture of 4x2 pixels whose polynomials are A = 3 u^2 + 5 u v and B = 7 v^2.
sip() {
	item float '4 2' fits.NAXIS:=2 fits.CRPIX1:=2.0 fits.CRPIX2:=1.0 fits.A_ORDER:=2 fits.A_2_0:=3.0 fits.A_1_1:=5.0 \
		fits.B_ORDER:=3 fits.B_0_2:=7.0 "$@" -- {1..8}
}

@test "FITS cards: tables of distortions and plate solutions are named when the axes change their order" {
	item uchar '2 1' 'spacings: 1 1' 'axis mins: 0 0' fits.NAXIS:=2 "fits.CPDIS1:='LOOKUP  '" -- 1 2 >a
	remarks '' rawaxes --crop=0:1:2 a >c
	rawaxes --order=1,0 a 2>&1 >/dev/null | grep -x 'rawaxes: a: item 1: fits.CPDIS1 and its distortions do not hold for these axes'
	sed s/CPDIS1/AMDX1/ a >b
	rawaxes --order=1,0 b 2>&1 >/dev/null | grep 'fits.AMDX1 and'
}

@test "FITS cards: the polynomials of SIP follow flips and a transposition" {
	[ -x "$B/rawtofits" ] || skip "rawtofits is not built"
	sip >a
	rawaxes --flip=0 a | rawtofits | has CRPIX1:=3.0 A_2_0:=-3.0 A_1_1:=5.0 B_0_2:=7.0
	rawaxes --flip=1 a | rawtofits | has CRPIX2:=2.0 A_2_0:=3.0 A_1_1:=-5.0 B_0_2:=-7.0
	rawaxes --order=1,0 a | rawtofits | has CRPIX1:=1.0 B_ORDER:=2 B_0_2:=3.0 B_1_1:=5.0 A_ORDER:=3 A_2_0:=7.0
	item float '2 2 2' fits.NAXIS:=3 fits.A_ORDER:=2 -- {1..8} >b
	rawaxes --order=2,1,0 b 2>&1 >/dev/null | grep 'item 1: fits.A_ORDER and its distortions do not hold'
	[ -z "$(rawaxes --order=1,0,2 b 2>&1 >/dev/null)" ]
}

@test "FITS cards: what a header leaves to the defaults follows a flip and a cut" {
	[ -x "$B/rawtofits" ] || skip "rawtofits is not built"
	sip fits.PC1_2:=0.5 >a
	rawaxes --flip=0 a | rawtofits | has PC1_1:=-1.0 PC1_2:=0.5
	item float '4 2' fits.NAXIS:=2 "fits.CTYPE1:='RA---TAN'" -- {1..8} >b
	rawaxes --flip=0 b | rawtofits | has CDELT1:=-1.0 CRPIX1:=5.0
	rawaxes --crop=0:1:3 b | rawtofits | has CRPIX1:=-1.0
	run -1 grep CDELT1 said.head
}

@test "axes that are not there, or that another option slices away, are refused by name" {
	gen noise 3 2 >a.pgm
	fails 1 'a.pgm: item 1: --crop: it has no axis 2' rawaxes --crop=2:0:1 a.pgm
	fails 1 'a.pgm: item 1: --crop: axis 0 has 3 samples' rawaxes --crop=0:1:4 a.pgm
	fails 1 'a.pgm: item 1: --slice: axis 1 has 2 samples' rawaxes --slice=1:2 a.pgm
	fails 1 '--flip: it has no axis 5' rawaxes --flip=5 a.pgm
	fails 1 '--order: 3 axes are named, and 2 are left' rawaxes --order=2,1,0 a.pgm
	fails 2 "--slice: axis 0 is named twice" rawaxes --slice=0:0 --slice=0:1 a.pgm
	fails 2 "--crop: axis 0 is sliced away" rawaxes --crop=0:1:3 --slice=0:0 a.pgm
	fails 2 "--flip: axis 2 is sliced away" rawaxes --slice=2:0 --flip=0,2 a.pgm
	fails 2 '--order: axis 0 is sliced away' rawaxes --slice=0:0 --order=0 a.pgm
	fails 2 "--order: axis 0 is named twice" rawaxes --order=0,0 a.pgm
	fails 2 "--crop: '0:2:2' is not AXIS:FROM:TO" rawaxes --crop=0:2:2 a.pgm
	fails 2 "--slice: 'q:1' is not AXIS:INDEX" rawaxes --slice=q:1 a.pgm
}

@test "planes that are taken of a colour are no colour" {
	item uchar '4 2 1' 'kinds: RGBA-color domain domain' tiff.extrasamples:=2 -- 1 2 3 4 5 6 7 8 >a
	# kind OPTION...: that of axis 0 of the result.
	kind() {
		rawaxes "$@" a >b
		sed -n 's/^kinds: //p;/^$/q' b | cut -d ' ' -f 1
	}
	same <(kind --crop=0:0:3) RGB-color
	run -1 grep -a extrasamples b
	same <(kind --crop=0:1:4) vector
	same <(kind --crop=0:0:2) vector
	same <(kind --flip=0) vector
	same <(kind --crop=1:0:1) RGBA-color
	grep -a extrasamples:=2 b
	same <(kind --order=1,2,0 --crop=0:0:3) domain
	grep -a 'kinds: domain domain RGB-color' b
	item float '2 3' 'kinds: list domain' -- 1 2 3 4 5 6 >a
	same <(kind --crop=0:0:1) list
}

@test "axes are named x, y, z and c, also where planes are the fastest, and a rectangle is two of them" {
	gen noise 6 5 >a.pgm
	rawaxes --crop=3x2+1+2 a.pgm | cmp - <(rawaxes --crop=0:1:4 --crop=1:2:4 a.pgm)
	rawstack --planes a.pgm a.pgm a.pgm >c.ppm
	rawaxes --crop=3x2+1+2 --flip=y --slice=c:1 c.ppm | tail -c 6 | cmp - <(rawaxes --crop=1:1:4 --crop=2:2:4 --flip=2 --slice=0:1 c.ppm | tail -c 6)
	rawtopnm --slice=c:2 c.ppm | cmp - <(rawtopnm --slice=0:2 c.ppm)
	fails 1 'a.pgm: item 1: --slice: it has no axis c' rawaxes --slice=c:0 a.pgm
	fails 1 'a.pgm: item 1: --crop: axis 0 is named twice' rawaxes --crop=3x2+1+2 --crop=0:0:1 a.pgm
	fails 2 "--crop: '3x0+1+2' is not AXIS:FROM:TO" rawaxes --crop=3x0+1+2 a.pgm
}
