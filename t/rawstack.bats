load lib

# rawstack: items to a stack, to one item, and back.

@test "pictures become a stack, and the stack the same pictures" {
	gen --seed=1 --type=ushort noise 7 5 >a.pgm
	gen --seed=2 --type=ushort noise 7 5 >b.pgm
	rawstack a.pgm b.pgm >s.nrrd
	same <(grep -a ^sizes s.nrrd) 'sizes: 7 5 2'
	cmp <(rawtotext s.nrrd | grep .) <(rawtotext a.pgm b.pgm | grep .)
	rawstack --split --pnm s.nrrd >t.pgm
	cmp t.pgm <(cat a.pgm b.pgm)
	cmp <(cat a.pgm b.pgm | rawstack | rawtotext) <(rawtotext s.nrrd)
}

@test "an axis that was taken apart comes back as it was; positions at uneven distances are none" {
	while read -r line; do
		gen --type=float values 2x2x3 1 2 3 4 5 6 7 8 9 10 11 12 | sed "/^sizes/a ${line//\//\\n}" >a
		rawstack --split a | rawstack | sed '/^history/d' >b
		diff <(rawinfo a | sed 1d) <(rawinfo b | sed 1d)
		[ "$(rawstack --split a | rawinfo | grep -c ^sizes)" -eq 3 ]
	done <<-'END'
		spacings: .5 2 -3
		axis mins: 0 0 7
		spacings: nan nan 1.25/axis mins: nan nan -4
		units: "" "" "um"/labels: "" "" "depth of it"
	END
	rawstack --split a | rawstack --spacing=2.5 --unit=s >b
	lines <(grep -a -e ^spacings -e ^labels -e ^units b) 'spacings: nan nan 2.5/labels: "" "" "depth of it"/units: "" "" "s"'
	for p in 1 2 4; do
		gen --type=float values 1 $p | sed "/^sizes/a slice.position:=$p"
	done | rawstack >a
	run -1 grep -a -e spacings -e mins -e slice a
}

@test "gathers keep the offsets of their traces in a stack, and take them out of it" {
	item float '2 3' 'offsets:=1 2 3' -- {1..6} >a
	item float '2 3' 'offsets:=4 5 6' -- {1..6} >b
	item float '2 3' 'offsets:=7' -- {1..6} >c
	rawstack a b | rawinfo | grep -x 'offsets:=1 2 3 4 5 6'
	rawstack a a | rawinfo | grep -x 'offsets:=1 2 3'
	[ "$(rawstack a b | rawstack --split | rawinfo | grep ^offsets | xargs)" = 'offsets:=1 2 3 offsets:=4 5 6' ]
	[ "$(rawstack a a | rawstack --split | rawinfo | grep ^offsets | xargs)" = 'offsets:=1 2 3 offsets:=1 2 3' ]
	remarks "rawstack: the items' offsets differ, and are left out" rawstack a c >r
	run -1 grep -a offsets r
}

@test "items become the planes of a picture, and planes become items" {
	for type in uchar short float double; do
		item $type '3 2' -- 1 2 3 4 5 6 >a
		item $type '3 2' -- 9 8 7 6 5 4 >b
		rawstack --planes a b >both
		lines <(rawtotext both) '1 9/2 8/3 7/4 6/5 5/6 4'
		rawinfo both | grep -x 'sizes: 2 3 2'
		rawinfo both | grep '^kinds: vector '
		rawstack --split --planes both | rawtotext | cmp - <(rawtotext a b)
		# Planes of planes, and pictures of a stack.
		rawstack --planes both both | rawtotext | head -n 1 | grep -x '1 9 1 9'
		rawstack a b >stack
		rawstack --planes stack stack | rawtotext | head -n 7 | tail -n 1 | grep -x '9 9'
		rawstack --split --planes a | rawtotext | cmp - <(rawtotext a)
	done
	# More pixels than are copied at once.
	gen noise 300 200 | pgmtoraw >a
	gen noise -s 7 300 200 | pgmtoraw >b
	rawstack --planes a b a | rawstack --planes --split | rawtotext | cmp - <(rawtotext a b a)
	fails 2 'rawstack: --planes goes without --combine' rawstack --planes --combine=sum a
	item float '2 3 1' 'kinds: complex domain domain' -- 1 2 3 4 5 6 >c
	fails 1 'rawstack: c: complex samples are no planes' rawstack --planes c
}

@test "planes keep what GDAL says of each" {
	for i in 1 2; do
		item uchar '1 1' "tiff.GDALMetadata:=<GDALMetadata>\\n  <Item name=\"DESCRIPTION\" sample=\"0\" role=\"description\">b$i</Item>\\n</GDALMetadata>\\n" \
			tiff.extrasamples:=0 -- "$i" >p$i
	done
	item uchar '1 1' -- 3 >p3
	rawstack --planes p1 p3 p2 >all
	run -1 grep -a extrasamples all
	lines <(rawinfo all | grep -o 'sample="[0-9]" role="description">b[0-9]') 'sample="0" role="description">b1/sample="2" role="description">b2'
	rawstack --planes p3 p2 | rawinfo | grep -o 'GDALMetadata>.*' | grep -c 'sample="1" role="description">b2'
	lines <(rawstack --planes --split all | rawinfo | grep -o 'sample="[0-9]" role="description">b[0-9]') \
		'sample="0" role="description">b1/sample="0" role="description">b2'
}

@test "items with other values of missing samples are named" {
	item short '2 1' nodata:=-1 -- 1 -1 >a
	item short '2 1' nodata:=-9 -- 1 -9 >b
	rawstack a b a 2>said | rawinfo | grep -x nodata:=-1
	same said 'rawstack: b: item 2: its missing samples are -9, and those of the first item -1; see tifftoraw --nan'
	remarks '' rawstack --combine=max a a >/dev/null
	item float '2 1' nodata:=-1 -- 1 nan >c
	remarks '' rawstack c <(item float '2 1' nodata:=-9 -- 1 nan) >/dev/null
}

@test "combinations, by hand; NaN is left out, and of the clipped mean a cosmic ray" {
	gen --type=float -- values 4x1 1 nan -5 nan >a
	gen --type=float -- values 4x1 4 2 7 nan >b
	gen --type=float -- values 4x1 2 8 1 nan >c
	same <(rawstack --combine=median a b c | rawtotext) '2 5 1 nan'
	same <(rawstack --combine=median <(item double 1 -- 1.7e308) <(item double 1 -- 1.5e308) | rawtotext) 1.6e+308
	same <(rawstack --combine=mean a b c | rawtotext) '2.3333333 5 1 nan'
	item double '3 4' -- 1.7e308 3 1 1.7e308 5 2 -1.7e308 7 inf -1.7e308 9 3 | rawstack --split >far # no double holds the sum
	same <(rawstack --combine=mean far | rawtotext) '0 6 inf'
	for far in 1e200 1e-200 1e308; do # nor the squares
		item double '1 12' -- 1 1 1 1 1 1 1 1.7 1 1 1 1 | rawmath --type=double "a * $far" | rawstack --split >far
		rawstack --combine=clip far | rawmath "abs(a / $far - 1) < 1e-12" | rawtotext | grep -x 1
	done
	same <(rawstack --combine=sum a b c | rawtotext) '7 10 3 nan'
	same <(rawstack --combine=min a b c | rawtotext) '1 2 -5 nan'
	same <(rawstack --combine=max a b c | rawtotext) '4 8 7 nan'
	same <(rawstack --combine=max a | rawtotext) '1 nan -5 nan'
	for v in 10 11 12 11 10 12 11 10 12 11 900; do gen --type=ushort values 2x1 $v 5; done >a
	same <(rawstack --combine=clip a | rawtotext) '11 5'
}

@test "least and greatest keep the type, and PNM stays PNM" {
	gen noise 5 4 >a.pgm
	gen --seed=2 noise 5 4 >b.pgm
	rawstack --combine=max a.pgm b.pgm >c.pgm
	head -c 2 c.pgm | grep P5
	cmp <(rawtotext c.pgm) <(rawmath --type=uchar 'max(a, b)' a.pgm b.pgm | rawtotext)
	rawstack --combine=mean a.pgm b.pgm | grep -ax 'type: float'
	gen --type=int values 1 7 | rawstack --combine=sum | grep -ax 'type: double'
}

@test "any number of threads gives the same bytes" {
	for s in 1 2 3 4 5 6; do gen --type=float --seed=$s noise 301 57; done >a
	for how in median clip; do
		for t in 1 7; do rawstack -t $t --combine=$how a >$t; done
		cmp <(samples 1) <(samples 7)
	done
}

@test "items that do not belong together are refused by name" {
	gen noise 3 2 >a.pgm
	gen noise 2 3 >b.pgm
	gen --type=float noise 3 2 >c
	fails 1 'b.pgm: item 1: its shape is not that of the first item' rawstack a.pgm b.pgm
	fails 1 'its samples are float, and those of the first item uchar' rawstack a.pgm c
	fails 1 'its shape is not that' rawstack --combine=sum a.pgm b.pgm
	rawtile --size=3x1 a.pgm >t
	fails 1 'another part of a picture' rawstack t
	fails 1 'its maxval is 9, and that of the first item 255' rawstack a.pgm <(pgm 3 2 9 1 2 3 4 5 6)
	gen --type=float values 2x2 1 2 3 4 | sed 's/^kinds.*/kinds: complex domain/' >f
	fails 1 'complex numbers have no order' rawstack --combine=median f
	lines <(rawstack --combine=sum f f | rawtotext) '2 4/6 8'
	for i in 0 1; do
		gen --type=float values 3x2 1 2 3 4 5 6 |
			sed "/^sizes/a part:=$i/2 0123456789abcdef\\nplace:=0/1 0/1 1:$((2 * i))/4" >s.$i
	done
	cmp <(rawstack --combine=sum s.0 s.0 | rawtotext) <(rawmath 'a * 2' s.0 | rawtotext)
	fails 1 'another part of a picture' rawmath 'a + b' s.0 s.1
	fails 1 'another part of a picture' rawstack --combine=mean s.0 s.1
	fails 1 'samples of 64 bits would lose digits' rawstack --combine=sum <(gen --type=int64 values 1 5)
	fails 2 '--split goes without --combine' rawstack --split --combine=sum a.pgm
	fails 2 'those of a new axis' rawstack --combine=sum --unit=m a.pgm
	fails 2 '--spacing: 0' rawstack --spacing=0 a.pgm
	gen constant 100 100 1 >e.pgm
	fails 1 'exceed the limit' bash -c 'cat e.pgm e.pgm | rawstack --max-bytes=15k'
}

@test "a header that claims 10^9 samples commits no memory before they arrive" {
	! sanitized || skip "the sanitizer commits memory of its own"
	[ -x /usr/bin/python3 ] || skip "no python3 to measure it with"
	/usr/bin/python3 - <<-'END'
		import resource, subprocess
		head = b'NRRD0005\ntype: uchar\ndimension: 1\nsizes: 1000000000\nencoding: raw\n\nabc'
		for how in 'sum', 'median':
		    r = subprocess.run(['rawstack', '--combine=' + how, '--max-bytes=2G'], input=head, capture_output=True)
		    assert r.returncode == 1 and b'the payload ends after 3 of' in r.stderr, r
		assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 100000
	END
}

@test "a sum that float cannot hold is an error, and no sample is lost behind it" {
	gen --type=float values 3x1 1 3e38 5 >a
	fails 1 'sample 1 of the result is not in the range of float' rawstack -o out --combine=sum a a
	[ ! -e out ]
	rawmath --type=double a a >b
	same <(rawstack --combine=sum b b | rawtotext) '2 6.0000000109955115e+38 10'
}

@test "a stack alone has nothing to combine, which is said" {
	gen --type=uchar values 2x1x3 1 2 3 4 5 9 >a
	rawstack --combine=mean a 2>said | rawinfo | grep -x 'sizes: 2 1 3'
	same said 'rawstack: a: one item has nothing to combine; --split makes items of a stack'
	rawstack --split a | rawstack --combine=mean 2>said | rawtotext | grep -x '3 5'
	[ ! -s said ]
}
