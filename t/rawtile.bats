load lib

# rawtile and rawjoin: parts, and wholes again.

@test "parts of even size, row by row, say where they lie" {
	rawtile --grid=3x2 <(gen ramp 7 5) >parts
	lines <(rawinfo parts | sed -n 's/^sizes: //p; s/^tile:=//p' | paste -sd ' \n') \
		'2 2 0 0 7 5/2 2 2 0 7 5/3 2 4 0 7 5/2 3 0 2 7 5/2 3 2 2 7 5/3 3 4 2 7 5'
}

@test "parts of a given size, and parts that begin where lists say" {
	gen ramp 7 5 >a.pgm
	lines <(rawtile --size=4x5 a.pgm | rawinfo | grep sizes) 'sizes: 4 5/sizes: 3 5'
	lines <(rawtile --columns=0,1,6 a.pgm | rawinfo | grep sizes) 'sizes: 1 5/sizes: 5 5/sizes: 1 5'
	lines <(rawtile --rows=0,4 --only=1 a.pgm | rawinfo | grep -e sizes -e ^tile) 'sizes: 7 1/tile:=0 4 7 5'
}

@test "margins reach as far as there are pixels; a part of a part says where it lies in the whole" {
	pgm 6 1 9 1 2 3 4 5 6 >a.pgm
	lines <(rawtile --grid=3x1 --margin=1 a.pgm | rawtotext | grep .) '1 2 3/2 3 4 5/4 5 6'
	lines <(rawtile --grid=3x1 --margin=2,0,7,7 a.pgm | rawtotext | grep .) '1 2/1 2 3 4/3 4 5 6'
	rawtile --grid=2x1 --only=1 <(pgm 6 1 9 1 2 3 4 5 6) | rawtile --grid=3x1 --only=2 >part.nrrd
	same <(rawtotext part.nrrd) 6
	grep -ax 'tile:=5 0 6 1' part.nrrd
}

@test "axes keep the positions of their samples, there and back" {
	item float '4 2' 'centers: node node' 'spacings: .5 2' 'axis mins: 10 -1' -- 1 2 3 4 5 6 7 8 >a.nrrd
	rawtile --size=2x1 a.nrrd >parts
	lines <(rawinfo parts | grep mins) 'axis mins: 10 -1/axis mins: 11 -1/axis mins: 10 1/axis mins: 11 1'
	rawjoin parts | rawinfo | grep -x 'axis mins: 10 -1'
}

@test "axes without positions have those of the whole, and only meanwhile" {
	item uchar '4 4' -- 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 7 >a
	item uchar '2 4 4' 'kinds: complex domain domain' 'spacings: nan .5 2' -- {1..32} >b
	item uchar '4 4 2' 'space dimension: 3' 'space directions: (2,0,0) (0,1,0) (0,0,1)' -- {1..32} >c
	for x in a b c; do
		rawtile --grid=2x2 $x >parts
		rawjoin parts | rawinfo | grep -v -e '^#' -e ^history | cmp - <(rawinfo $x | sed 1d)
	done
	lines <(rawtile --grid=2x2 a | rawinfo | grep mins) 'axis mins: 2 nan/axis mins: nan 2/axis mins: 2 2'
	rawtile --grid=2x2 b | rawinfo | grep -x 'axis mins: nan 1 4'
	for i in 3 1 2 0; do rawtile --grid=2x2 --only=$i a; done | rawjoin | rawinfo | grep -v -e '^#' -e ^history | cmp - <(rawinfo a | sed 1d)
	rawaxes --crop=0:1:4 a | rawtile --grid=1x2 --only=1 | rawlabel --quiet --to=csv >got
	lines <(cut -d, -f 7,8,11,12 got) 'x,y,xpeak,ypeak/2.5,3,3,3'
	rawaxes --slice=2:0 c | rawtile --grid=2x2 --only=3 | rawlabel --quiet --to=csv | cut -d, -f 3,4,5,6 >got
	same <(tail -n 1 got) 4,2,6,3
}

@test "parts in any order make the whole, byte for byte" {
	gen noise 61 47 >a.pgm
	for i in 5 0 3 1 4 2; do rawtile --grid=2x3 --margin=3 --only=$i a.pgm; done | rawjoin --pnm | cmp - a.pgm
}

@test "colours stay together, stacks are cut in every picture, and every picture of a stream is put together by itself" {
	gen --type=float -- values 3x4x2 {1..24} >colour.nrrd
	sed -i 's/^kinds: domain/kinds: RGB-color/' colour.nrrd
	rawtile --grid=2x2 colour.nrrd >parts
	same <(rawinfo parts | grep sizes | uniq) 'sizes: 3 2 1'
	cmp <(rawjoin parts | rawtotext) <(rawtotext colour.nrrd)
	gen --type=float -- values 4x2x3 {1..24} >stack.nrrd
	rawtile --grid=2x2 stack.nrrd >parts
	same <(rawinfo parts | grep sizes | uniq) 'sizes: 2 1 3'
	cmp <(rawjoin parts | rawtotext) <(rawtotext stack.nrrd)
	gen noise 9 7 >a.pgm
	gen ramp 5 5 >b.pgm
	rawtile --size=4x4 a.pgm b.pgm | rawjoin --pnm | cmp - <(cat a.pgm b.pgm)
}

@test "a convolution part by part is that of the whole, to the byte; kernels of even size need one column less before than after" {
	gen noise 90 70 --type=float >x.nrrd
	gen kernels 7 3 2 >k.nrrd
	wconv -k k.nrrd --method=direct --edge=reflect x.nrrd >whole.nrrd
	rawtile --grid=3x4 --margin=3 x.nrrd | wconv -k k.nrrd --method=direct --edge=reflect | rawjoin >joined.nrrd
	cmp <(rawtotext whole.nrrd) <(rawtotext joined.nrrd)
	gen noise 40 9 --type=float >x.nrrd
	gen noise 4 4 --type=float >k.nrrd
	wconv -k k.nrrd --method=direct x.nrrd >whole.nrrd
	rawtile --grid=4x2 --margin=1,2,1,2 x.nrrd | wconv -k k.nrrd --method=direct | rawjoin >joined.nrrd
	cmp <(rawtotext whole.nrrd) <(rawtotext joined.nrrd)
}

@test "of a picture from a pipe, the rows of a row of parts are held" {
	gen noise 61 47 >a.pgm
	for cut in --grid=3x4 --size=20x9 --rows=0,1,30 '--grid=2x5 --margin=7' '--size=61x5 --margin=3,0,9,4' \
		'--grid=3x4 --only=7'; do
		cmp <(rawtile $cut <a.pgm) <(cat a.pgm a.pgm | rawtile $cut | head -c "$(rawtile $cut <a.pgm | wc -c)")
	done
	cmp <(cat a.pgm a.pgm | rawtile --grid=2x3 --margin=5 | rawjoin --pnm) <(cat a.pgm a.pgm)
	gen noise 4000 4000 >big.pgm
	cat big.pgm | rawtile --size=500x500 --stats=s >parts
	sanitized || [ "$(sed 's/.*"peak_bytes": \([0-9]*\).*/\1/' s)" -lt 14000000 ]
	cat parts | rawjoin --pnm --max-mem=2M --stats=s | cmp - big.pgm
	sanitized || [ "$(sed 's/.*"peak_bytes": \([0-9]*\).*/\1/' s)" -lt 14000000 ]
}

@test "a picture in a file is the same as one in memory" {
	gen noise 61 47 >a.pgm
	gen --seed=5 --type=float noise 5 3 >b.nrrd
	rawtile --grid=3x4 --margin=3 a.pgm >parts
	cmp <(rawjoin --max-mem=1 --pnm parts) a.pgm
	rawtile --size=2x2 b.nrrd >parts
	cmp <(rawjoin --max-mem=50 parts) <(rawjoin parts)
	rawtile --size=2x2 --only=3 b.nrrd >one
	cmp <(rawjoin --max-mem=1 --fill=7 one) <(rawjoin --fill=7 one)
	rawtile --columns=0,3 --only=1 b.nrrd >column
	for how in sum max last; do
		rawjoin --overlap=$how parts column >want
		rawjoin --max-mem=1 --overlap=$how parts column | cmp - want
	done
	TMPDIR=/nowhere fails 1 'no temporary file in /nowhere' rawjoin --max-mem=1 parts
}

@test "parts of a picture that is complete belong to it, and not to another" {
	gen noise 21 9 >a.pgm
	gen --seed=2 noise 21 9 >b.pgm
	rawtile --size=5x4 --margin=3 a.pgm b.pgm >parts
	for overlap in same first last; do
		rawjoin --overlap=$overlap --pnm parts | cmp - <(cat a.pgm b.pgm)
	done
	rawtile --size=20x8 --margin=2 a.pgm | rawjoin --pnm | cmp - a.pgm
	cat a.pgm a.pgm | rawjoin --pnm | cmp - <(cat a.pgm a.pgm)
	for i in {0..13}; do rawtile --size=5x4 --margin=3 --only=$i a.pgm; done >others
	rawtile --size=5x4 --margin=3 --only=14 a.pgm | cat - others | rawjoin --pnm | cmp - a.pgm
	fails 1 'item 15: it differs from the part below it' bash -c '
		cat others <(rawtile --size=5x4 --margin=3 --only=14 b.pgm) | rawjoin -o out'
}

@test "a part that is there twice is refused, whatever the order" {
	gen noise 9 4 >a.pgm
	for i in 0 1 2; do rawtile --grid=3x1 --margin=1 --only=$i a.pgm >part.$i; done
	rawjoin --pnm part.* | cmp - a.pgm
	for how in same first last; do
		for order in '0 0 1 2' '0 1 0 2' '1 0 0 2' '2 1 1 0' '1 2 1 0'; do
			fails 1 'a part of the same place' rawjoin --overlap=$how ${order//[0-9]/part.&} -o out
		done
		for order in '0 1 2 0' '0 2 1 1'; do
			fails 1 'of 9x4 pixels are in no part' rawjoin --overlap=$how ${order//[0-9]/part.&} -o out
		done
	done
}

@test "margins that make two parts the same are refused" {
	gen noise 9 4 >a.pgm
	fail_alike 1 'with these margins, two parts of 9x4 pixels are the same' 'rawtile @ a.pgm' \
		'--grid=2x1 --margin=5' '--grid=1x4 --margin=3' '--grid=4x1 --margin=7,6,0,0' '--rows=0,2,3 --margin=0,0,2,2'
	rawtile --grid=2x1 --margin=4 a.pgm | rawjoin --pnm | cmp - a.pgm
}

@test "missing pixels are an error that counts them, or filled" {
	rawtile --size=2x1 --only=2 <(pgm 3 2 9 1 2 3 4 5 6) >part
	fails 1 'rawjoin: 4 of 3x2 pixels are in no part, the first at 0,0; see --fill' rawjoin part
	lines <(rawjoin --fill=7 part | rawtotext) '7 7 7/4 5 7'
	fails 1 '--fill: 300 is no uchar' rawjoin --fill=300 part
	fails 2 "--fill: '3x' is not a number" rawjoin --fill=3x part
	item float '1 1' 'tile:=1 0 2 1' -- 5 >b.nrrd
	same <(rawjoin --fill=nan b.nrrd | rawtotext) 'nan 5'
}

# typed TYPE SIZES [LINE ...] -- SAMPLE...: an item of any type, on stdout.
typed() {
	item double "${@:2}" | rawmath --type="$1" a
}

@test "parts that overlap and differ are an error, or one counts, samples add up, or the greatest or least stays" {
	for type in char uchar short ushort int uint int64 uint64 float double; do
		typed $type '2 1' 'tile:=0 0 3 1' -- 1 2 >a.nrrd
		typed $type '2 1' 'tile:=1 0 3 1' -- 5 6 >b.nrrd
		typed $type '3 1' -- 3 3 3 >c.nrrd
		fails 1 'b.nrrd: it differs from the part below it, first at 1,0; see --overlap' rawjoin a.nrrd b.nrrd
		same <(rawjoin --overlap=first a.nrrd b.nrrd | rawtotext) '1 2 6'
		same <(rawjoin --overlap=last a.nrrd b.nrrd | rawtotext) '1 5 6'
		same <(rawjoin --overlap=sum a.nrrd b.nrrd c.nrrd | rawtotext) '4 10 9'
		same <(rawjoin --overlap=max a.nrrd b.nrrd c.nrrd | rawtotext) '3 5 6'
		same <(rawjoin --overlap=min c.nrrd b.nrrd a.nrrd | rawtotext) '1 2 3'
	done
	rawjoin --overlap=max a.nrrd b.nrrd | rawinfo | grep -x 'sizes: 3 1'
	fails 1 '1 of 3x1 pixels are in no part' rawjoin --overlap=sum a.nrrd
	same <(rawjoin --overlap=sum --fill=7 a.nrrd a.nrrd | rawtotext) '2 4 7'
}

@test "integers of 64 bits are combined exactly" {
	item int64 2 -- -9223372036854775807 -1 >a.nrrd
	item int64 2 -- 9223372036854775806 -2 >b.nrrd
	same <(rawjoin --overlap=sum a.nrrd b.nrrd | rawtotext) '-1 -3'
	same <(rawjoin --overlap=max a.nrrd b.nrrd | rawtotext) '9223372036854775806 -1'
	same <(rawjoin --overlap=min a.nrrd b.nrrd | rawtotext) '-9223372036854775807 -2'
	fails 1 'b.nrrd: the sum at 0,0 does not fit int64' rawjoin --overlap=sum b.nrrd b.nrrd
	sed 's/int64/uint64/' b.nrrd >c.nrrd
	fails 1 'c.nrrd: the sum at 1,0 does not fit uint64' rawjoin --overlap=sum c.nrrd c.nrrd
	item int64 2 -- 0 9 | sed 's/int64/uint64/' >d.nrrd
	same <(rawjoin --overlap=max c.nrrd d.nrrd | rawtotext) '9223372036854775806 18446744073709551614'
}

@test "long rows, planes and stacks add up" {
	gen noise 300 5 >a.pgm
	gen noise -s 2 300 5 >b.pgm
	for i in a b; do rawmath --type=ushort a $i.pgm | sed '/^maxval/d' >$i.nrrd; done
	rawmath --type=ushort a+b a.nrrd b.nrrd | rawtotext >want
	rawjoin --overlap=sum a.nrrd b.nrrd | rawtotext | cmp - want
	gen --type=float -- values 3x4x2 {1..24} | sed 's/^kinds: domain/kinds: RGB-color/' >c.nrrd
	rawtile --grid=2x2 --margin=1 c.nrrd | cat - c.nrrd | rawjoin --overlap=max | cmp <(rawtotext c.nrrd) <(rawtotext)
	cat c.nrrd c.nrrd c.nrrd | rawjoin --overlap=sum | cmp <(rawmath 'a * 3' c.nrrd | rawtotext) <(rawtotext)
}

@test "sums of floats follow the order of the parts; NaN stays in sums only" {
	item float 4 -- 1e30 nan nan -inf >a.nrrd
	item float 4 -- -1e30 2 nan inf >b.nrrd
	item float 4 -- 1 3 nan 1 >c.nrrd
	same <(rawjoin --overlap=sum a.nrrd b.nrrd c.nrrd | rawtotext) '1 nan nan nan'
	same <(rawjoin --overlap=sum c.nrrd a.nrrd b.nrrd | rawtotext | cut -d ' ' -f 1) 0
	same <(rawjoin --overlap=max a.nrrd b.nrrd c.nrrd | rawtotext) '1e+30 3 nan inf'
	same <(rawjoin --overlap=min b.nrrd a.nrrd c.nrrd | rawtotext) '-1e+30 2 nan -inf'
}

@test "what cannot be combined is refused by name" {
	pgm 3 1 9 1 4 5 >a.pgm
	cmp <(rawjoin --overlap=max a.pgm a.pgm) a.pgm
	fails 1 'a.pgm: the sum at 2,0 exceeds the maxval 9' rawjoin --overlap=sum a.pgm a.pgm
	pgm 3 1 255 1 4 5 >b.pgm
	fails 1 'b.pgm: its maxval is 255, but that of the parts before is 9' rawjoin --overlap=max a.pgm b.pgm
	item float '2 1' -- 1 4 >c.nrrd
	fails 1 'c.nrrd: it is of 1 planes and 1 pictures of float, 2x1 pixels each, but the parts before are' rawjoin --overlap=sum a.pgm c.nrrd
	typed char 1 -- -100 >d.nrrd
	fails 1 'd.nrrd: the sum at 0,0 does not fit signed char' rawjoin --overlap=sum d.nrrd d.nrrd
	item float '2 1' 'kinds: complex domain' -- 1 4 >e.nrrd
	fails 1 'e.nrrd: complex numbers have no order' rawjoin --overlap=max e.nrrd e.nrrd
	for i in 0 1; do wconv -k a.pgm --part=$i/2 c.nrrd >share.$i; done
	fails 1 'it is a share of --part, and shares do not overlap' rawjoin --overlap=sum share.0 share.1
	item double '2 1' 'tile:=1 0 3 1' -- 5 6 >other.type
	item float '2 1' 'tile:=1 0 4 1' -- 5 6 >other.picture
	for b in other.*; do fails 1 'but the parts before are' rawjoin <(item float '2 1' 'tile:=0 0 3 1' -- 1 2) $b; done
}

@test "a Fourier transform of points that are shared out is the sum of the shares' transforms" {
	gen --type=float -- noise 4 600 | rawmath 'a - .5' >points.nrrd
	usfft -T 1 -n 16,16 points.nrrd >whole.nrrd
	rawtile --grid=1x7 points.nrrd | sed '/^tile:=/d' | usfft -T 1 -n 16,16 | rawjoin --overlap=sum >sum.nrrd
	rawmath --type=double '(a - b)^2' sum.nrrd whole.nrrd | rawinfo | grep ^mean >difference
	rawmath --type=double 'a^2' whole.nrrd | rawinfo | grep ^mean >norm
	cat difference norm | awk '{ v[NR] = $2 } END { print v[1], v[2]; exit !(v[2] > 0 && v[1] < 4e-12 * v[2]) }'
}

@test "keys that make no sense are refused, and claims beyond memory" {
	for tile in '5 0' '0 0 9 1 1' '-1 0 9 1' '0 0 x 1' '2 0 3 1' '0 0 2 0' '0 1 9 1' '0 0 134217729 1'; do
		item float '2 1' "tile:=$tile" -- 1 2 >a.nrrd
		fails 1 "tile:=$tile" rawjoin a.nrrd
		fails 1 "tile:=$tile" rawtile --grid=1x1 a.nrrd
	done
	fails 1 'raise it with --max-bytes' rawjoin <(item float '2 1' 'tile:=0 0 134217728 134217728' -- 1 2)
}

@test "wrong cuts are refused by name" {
	pgm 5 1 9 1 2 3 4 5 >a.pgm
	fails 2 'exactly one of' rawtile a.pgm
	fails 2 'exactly one of' rawtile --grid=1x1 --rows=0 a.pgm
	fails 2 "--grid: '0.5x1' holds a number that is not a whole one" rawtile --grid=0.5x1 a.pgm
	fails 2 "--columns: '1,2' does not begin with 0" rawtile --columns=1,2 a.pgm
	fails 2 "--columns: '0,2,2' does not ascend" rawtile --columns=0,2,2 a.pgm
	fails 2 "--margin: '1,2' has neither" rawtile --grid=1x1 --margin=1,2 a.pgm
	fails 1 '5x1 pixels are too few for these parts' rawtile --grid=6x1 a.pgm
	fails 1 '5x1 pixels are too few for these parts' rawtile --columns=0,5 a.pgm
	fails 1 '--only: there are 2 parts, from 0' rawtile --grid=2x1 --only=2 a.pgm
}
