load lib

prepare() {
	# five, three and one pixels
	pgm 9 1 255 10 10 11 11 12 20 20 21 50 >l.pgm
}

# Four colours: black and its neighbour, and two neighbours far away.
four() {
	echo P3 4 1 255 0 0 0 1 0 0 9 9 9 9 9 8
}

# --- the tree --------------------------------------------------------------------------------

@test "--method=brute makes the same tree: colours, points, equal points, one point" {
	gen noise 60 40 >gray.pgm
	gen noise 3000 20 | tail -c 60000 | { printf 'P6 200 100 255\n' && cat; } >colours.ppm
	printf '1 2\n3 4\n1 2\n5 5\n' | texttoraw >points.nrrd
	printf '1 2\n' | texttoraw >one.nrrd
	for input in colours.ppm gray.pgm points.nrrd one.nrrd; do
		emst --to=text $input >want
		emst --to=text --method=brute $input | diff - want
	done
	# Points whose squared distance is too small for a double.
	lines <(printf '0 0\n1e-300 0\n1 0\n' | texttoraw | emst --to=text --method=brute) '0 1 0/1 2 1'
}

@test "the tree as an item holds the same edges, and linkage names the parts as SciPy does" {
	four | emst >tree.nrrd
	grep -ax 'columns:=u v length' tree.nrrd
	lines <(samples tree.nrrd) '592136 592137 1/0 65536 1/65536 592136 14.45683229480096'
	four | shows '2 3 1 2/0 1 1 2/4 5 14.45683229480096 4' emst --to=linkage
}

@test "the tree does not depend on the number of threads" {
	gen --type=uchar --raw noise 192 128 >noise.nrrd
	{ printf 'P6\n64 128\n255\n' && tail -c 24576 noise.nrrd; } >rgb.ppm
	for kind in tree linkage labels means; do
		emst -t 1 --to=$kind rgb.ppm >one
		for t in 2 3; do emst -t $t --to=$kind rgb.ppm | cmp - one; done
	done
}

@test "the trees of small pictures: gray levels are a chain; ties; 16 bits, other maxvals, two planes and four" {
	while IFS=';' read -r picture want; do
		same <(printf "$picture\n" | emst --to=text | paste -sd,) "$want"
	done <<-'END'
		P2 5 1 255 10 12 13 20 10;12 13 1,10 12 2,13 20 7
		P3 3 1 255 0 0 1 0 1 1 1 0 1;1 257 1,1 65537 1
		P2 2 1 100 0 100;0 100 100
		P2 2 1 1000 0 1000;0 1 1000
		P3 2 1 255 0 0 0 255 255 255;0 16777215 441.6729559
		P3 2 1 65535 0 0 0 3 4 1000;0 1 1000.0125
		P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\1\1\4\5;257 1029 5
		P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\1\1\1\1\2\2\2\2;0 1 2
		NRRD0005\ntype: uchar\ndimension: 2\nsizes: 2 2\nkinds: list domain\nencoding: raw\n\n\1\1\4\5;0 1 5
	END
}

@test "squared lengths are exact for bytes of any number of planes" {
	# 1000 planes; |b - a|^2 = 1000 * 255^2 is above 2^24, and c differs from b by 1 in one plane.
	awk 'BEGIN { for (i = 0; i < 3; i++) for (a = 0; a < 1000; a++) print !i ? 0 : i == 2 && a == 999 ? 254 : 255 }' |
		texttoraw --type=uchar >v.nrrd
	{
		sed 's/^dimension: .*/dimension: 2/;s/^sizes: .*/sizes: 1000 3/;/^kinds\|^columns/d;/^$/q' v.nrrd
		tail -c 3000 v.nrrd
	} >p.nrrd
	emst --points p.nrrd >tree.nrrd
	same <(samples tree.nrrd | awk '{ printf "%s %s %.0f\n", $1, $2, $3 * $3 * 1e6 }') '1 2 1000000
0 2 65024491000000'
}

@test "the trees of few points: ties, equal ones, -0, floats too large or too small to be squared" {
	while IFS=: read -r type sizes values want; do
		gen --type=$type --raw -- values $sizes $values >p.nrrd
		same <(emst --points --to=text p.nrrd | paste -sd,) "$want"
	done <<-'END'
		float:2x4:0 0 1 1 1 0 0 1:1 2 1,0 2 1,1 3 1
		float:1x5:0 3 -0 3 0:0 2 0,1 3 0,0 4 0,0 1 3
		float:2x3:5 5 5 5 5 5:0 1 0,0 2 0
		float:1x3:0 1267650600228229401496703205376 -1267650600228229401496703205376:0 1 1.2676506e+30,0 2 1.2676506e+30
		double:1x3:1e-200 3e-200 -2e-200:0 1 2e-200,0 2 3e-200
		double:1x3:1e200 3e200 -2e200:0 1 2e+200,0 2 3e+200
	END
}

# --- SciPy -----------------------------------------------------------------------------------

@test "SciPy takes the linkage and finds the same single linkage" {
	/usr/bin/python3 -c 'import scipy.cluster.hierarchy' 2>/dev/null || skip "python3-scipy is not installed"
	gen --type=double noise 3 200 >p.nrrd
	emst --points --to=linkage p.nrrd >z.nrrd
	/usr/bin/python3 - <<-END
		import numpy as np
		from scipy.cluster import hierarchy as h
		def item(name, columns):
		    data = open(name, 'rb').read()
		    return np.frombuffer(data[data.index(b'\n\n') + 2:], float).reshape(-1, columns)
		z, p = item('z.nrrd', 4), item('p.nrrd', 3)
		want = h.linkage(p, 'single')
		assert h.is_valid_linkage(z) and h.is_monotonic(z)
		assert np.allclose(z[:, 2], want[:, 2], rtol=1e-14)
		for k in 2, 5, 20:
		    a, b = h.fcluster(z, k, 'maxclust'), h.fcluster(want, k, 'maxclust')
		    assert len(set(zip(a, b))) == len(set(a)) == len(set(b))
	END
}

# --- classes ---------------------------------------------------------------------------------

# labels OPTION...: the classes of the pixels of l.pgm.
labels() {
	emst --to=labels "$@" l.pgm | rawtotext
}

# The edges of l.pgm in order of length are 10-11, 11-12, 20-21, 12-20, 21-50. The squares about the means are 1302 of one class,
# 173.9 of two, 3.5 of three, 1.5 of four, 0.7 of five, 0 of six.
@test "cuts: the minimum-size forest, so many classes, Genie, lengths, density, variance" {
	while IFS=: read -r want options; do
		same <(for o in $options; do labels ${o//_/ }; done | sort -u) "$want"
	done <<-'END'
		1 1 2 2 4 3 3 5 6:-m_1 -m_1% --cut=length --cut=length_-k_6 --genie=1_-k_6 --distance=0
		3 3 2 2 2 1 1 1 1:-m_2 --cut=length_-k_3
		1 1 1 1 1 2 2 2 2:-m_3 -m_30% --cut=length_-k_2 --distance=1_-k_2 --min-pts=3_-k_2 --min-pts=3_--fill
		1 1 1 1 1 1 1 1 1:-m_4 -m_5 --cut=length_-k_1 --genie=1_-k_1 --distance=29 --min-pts=9
		1 1 1 1 1 1 1 1 2:--genie=1_-k_2 --distance=28.9
		1 1 1 1 1 2 2 2 3:--genie=1_-k_3 --distance=1 --distance=1_-k_3
		1 1 1 1 1 2 2 2 0:--min-pts=3
		1 1 1 1 1 1 1 1 1:-k_1 --functional=10 --cut=variance_-m_5
		1 1 1 1 1 1 1 1 2:-k_2 --functional=.2 --functional=.01_-k_2
		1 1 1 1 1 2 2 2 2:--cut=variance_-m_3 --cut=variance_-m_40% --cut=variance_-k_2_-m_3 --cut=variance_--min-pts=2_-k_2_-m_4
		1 1 1 1 1 2 2 2 3:--quiet -k_3 --functional=.01
		1 1 2 2 4 3 3 5 6:-k_6 --functional=1e-5
	END
	# With G = 0 a lightest part joins as soon as two differ.
	lines <(labels --genie=0 -k 2 && labels --genie -k 2) '1 1 1 1 1 2 2 2 2/1 1 1 1 1 2 2 2 2'
	# Points have Genie's classes, which need not have like weight.
	printf '%s\n' 0 1 2 3 4.5 5.5 6.5 7.5 20 21 | texttoraw >gap.nrrd
	same <(for how in -k\ 2 '-k 2 --genie' '-k 2 --genie=.3'; do emst --to=labels $how gap.nrrd | rawtotext | xargs; done | sort -u) '1 1 1 1 1 1 1 1 2 2'
	same <(emst --to=labels --cut=length -k 2 gap.nrrd | rawtotext | xargs) '2 2 2 2 1 1 1 1 1 1'
	# No size leaves four or five: of the six of -m 1 those are joined that are nearest.
	lines <(labels --cut=length -k 5 && labels --cut=length -k 4) '1 1 1 1 3 2 2 4 5/1 1 1 1 1 2 2 3 4'
	# What more classes lower pays here only for the first cut.
	same <(printf 'P2 8 1 255 0 0 1 1 100 100 101 101\n' | emst --to=labels | rawtotext) '1 1 1 1 2 2 2 2'
	# Of two cuts that lower the squares alike, the last in order is made.
	same <(printf 'P2 3 1 255 0 5 10\n' | emst --to=labels -k 2 | rawtotext) '1 1 2'
	echo P3 2 1 255 7 7 7 7 7 7 | emst --to=palette | grep -x '1 2 1.0000 7 7 7'
}

@test "a share of the pixels that is a whole number is that number, and a warning says when there are fewer classes than -k" {
	gen ramp 100 1 >row.pgm
	for m in 7:7 7.01:8; do
		emst -v --to=palette -m ${m%:*}% row.pgm 2>&1 | grep -F "classes of at least ${m#*:}"
	done
	hints 'there are only 3 such classes' labels -k 4 --distance=1 >out
	same out "$(labels --distance=1)"
}

@test "points get lasting classes by default, each point one of them" {
	gen --type=float --raw values 1x13 0 1 2 3 10 11 12 13 5 40 41 42 43 >p.nrrd
	emst --points --to=labels p.nrrd >want
	same <(samples want | xargs) '1 1 1 1 2 2 2 2 1 3 3 3 3'
	emst --points p.nrrd >tree.nrrd
	emst --points --to=labels --tree tree.nrrd p.nrrd | tail -c 13 | cmp - <(tail -c 13 want)
}

@test "cuts of points depend neither on the unit nor, where edges are of one length, on the order" {
	for power in e0 e-200 e200; do
		gen --type=double --raw -- values 1x5 0 1$power 2$power 8$power 9$power >p.nrrd
		for how in --functional=.1 '--cut=variance -k 2'; do
			same <(emst --points --to=labels $how p.nrrd | rawtotext) '1 1 1 2 2'
		done
	done
	for order in '0 1 2 3' '1 0 3 2' '2 0 3 1'; do
		printf '%s\n' $order | texttoraw >row.nrrd
		same <(emst --points --min-pts=2 --to=palette row.nrrd) '1 4 1.0000 1.5'
	done
}

@test "means are those of the pixels, in the input's own type; the palette has a line for each class" {
	same <(emst --to=means --genie=1 -k 3 l.pgm | rawtotext) '11 11 11 11 11 20 20 20 50'
	printf 'P3 2 1 65535 0 0 0 1 1 999\n' | emst --to=means -k 1 >m.ppm
	same <(tail -c 12 m.ppm | od -An -v -tx1 | xargs) '00 01 00 01 01 f4 00 01 00 01 01 f4'
	shows '0.5 1.5/0.5 1.5' emst --points --to=means -k 1 <(gen --type=float values 2x2 0 0 1 3)
	# Label, pixels, share, mean.
	lines <(emst --to=palette --genie=1 -k 3 l.pgm) '1 5 0.5556 10.8/2 3 0.3333 20.3333/3 1 0.1111 50'
	same <(emst --to=palette --min-pts=3 l.pgm | head -n 1) '0 1 0.1111'
	gen --type=double --raw values 1x3 1e308 1.2e308 1.7e308 >large.nrrd
	same <(emst --points --to=palette -k 1 large.nrrd) '1 3 1.0000 1.3e+308'
}

@test "a saved tree is cut again with the same result, and one of something else is refused" {
	emst l.pgm >tree.nrrd
	for how in '-m 2' '-k 3' '--cut=length -k 3' '-k 3 --genie' '-k 3 --genie=1' --distance=1 --functional=.1; do
		emst --to=labels $how l.pgm >want
		emst --to=labels $how --tree tree.nrrd l.pgm | cmp - want
	done
	emst --min-pts=3 l.pgm >dense.nrrd
	emst --to=labels --min-pts=3 l.pgm >want
	emst --to=labels --min-pts=3 --tree dense.nrrd l.pgm | cmp - want
	gen --type=float values 1x5 0 3 0 3 9 >p.nrrd
	emst --points p.nrrd >tree.nrrd
	emst --points --to=text p.nrrd >want
	emst --points --to=text --tree tree.nrrd p.nrrd | cmp - want
	emst l.pgm >tree.nrrd
	four >four.ppm
	fails 1 'which are not both there' emst --tree tree.nrrd four.ppm
	fails 1 'made with --min-pts 3' emst --to=labels --tree dense.nrrd l.pgm
	fails 1 'not made with --min-pts' emst --to=labels --min-pts=3 --tree tree.nrrd l.pgm
	fails 1 'not a tree' emst --tree l.pgm l.pgm
	fails 1 'empty input' emst --tree /dev/null l.pgm
	fails 1 'has no tree for it' emst -o out --to=text --tree tree.nrrd <(cat l.pgm l.pgm)
	fails 1 'the payload ends' emst --to=text --tree <(head -c -8 tree.nrrd) l.pgm
	gen --type=double --raw values 3x5 10 11 1 11 12 1 10 12 1 12 20 8 21 50 29 |
		sed 's/^encoding: raw$/encoding: raw\ncolumns:=u v length/' >ring.nrrd
	fails 1 'closes a ring' emst --tree ring.nrrd l.pgm
}

@test "several outputs of one run; --stats says how many points, how long, how many classes" {
	emst --to=means -k 3 --labels-to=labels.pgm --palette-to=p.txt l.pgm >m.pgm
	cmp labels.pgm <(emst --to=labels -k 3 l.pgm)
	cmp m.pgm <(emst --to=means -k 3 l.pgm)
	cmp p.txt <(emst --to=palette -k 3 l.pgm)
	emst --to=labels --distance=1 --stats=s l.pgm >/dev/null
	grep -F '"points": 6, "total_weight": 40, "longest_edge": 29, "classes": 3' s
	# A full cube of colours: every edge is 1 long.
	awk 'BEGIN { print "P3 64 64 15"; for (i = 0; i < 4096; i++) print int(i / 256), int(i / 16) % 16, i % 16 }' |
		emst --to=text --stats=s >/dev/null
	grep -F '"points": 4096, "total_weight": 4095, "longest_edge": 1' s
	item double '2 3' -- 0 0 1.7e308 0 0 -1.7e308 | emst --points --stats=s >/dev/null
	grep -F '"points": 3, "total_weight": null, "longest_edge": 1.7e+308}' s # JSON has no inf
}

# --- bad input -------------------------------------------------------------------------------

@test "one colour has no edges, which an item cannot say" {
	echo P3 2 1 255 7 7 7 7 7 7 >one.ppm
	[ -z "$(emst --to=text one.ppm)" ]
	[ "$(emst --to=labels one.ppm | tail -c 2 | od -An -tu1 | xargs)" = '1 1' ]
	fails 1 'has no edges' emst one.ppm
	fails 1 'has no edges' emst --to=linkage one.ppm
}

@test "NaN, infinity and edges longer than the largest double are refused; coordinates whose sum is beyond it have their mean" {
	fails 1 'coordinate 1 of point 1 is not finite' emst --points <(gen --type=float --raw values 2x3 1 2 3 nan 5 6)
	fails 1 'coordinate 0 of point 2 is not finite' emst --points <(gen --type=double --raw values 2x3 1 2 3 4 inf 6)
	item float '2 3 1' 'kinds: vector domain domain' -- nan 1 2 nan 3 inf >pixels.nrrd
	fails 1 'coordinate 1 of pixel 2 is not finite' emst --to=labels pixels.nrrd
	printf '1.7e308 3\n0 0\n1.7e308 4\n' | texttoraw --type=double | emst -k 2 --to=means | rawtotext >means
	same <(xargs <means) '1.7e+308 3.5 0 0 1.7e+308 3.5'
	printf '1.7e308 3\n1.6e308 0\n-1.7e308 4\n' | texttoraw --type=double >far.nrrd
	fail_alike 1 'the edge from 1 to 2 is longer than the largest double' 'emst @ far.nrrd' --method=brute --min-pts=2 --to=labels --to=linkage
	item double '2 2' -- 1.7e308 -1.7e308 1.7e308 1.7e308 >far.nrrd
	fails 1 'the edge from 0 to 1 is longer' emst --image --neighbours=4 far.nrrd
}

@test "pixels without data have no class, and their colour is no vertex" {
	# NaN in a plane, or the value of missing samples in all planes.
	item float '2 6 1' 'kinds: vector domain domain' -- nan 1 1 1 1 1 nan nan 9 9 9 9.5 >a
	item ushort '2 6 1' 'kinds: vector domain domain' nodata:=7 -- 7 7 1 1 1 1 7 7 90 90 90 95 >b
	same <(emst -m 2 --to=labels a | rawtotext) '0 1 1 0 2 2'
	lines <(emst -m 2 --to=means a | rawtotext) 'nan nan/1 1/1 1/nan nan/9 9.25/9 9.25'
	lines <(emst -m 2 --to=palette a) '0 2 0.3333/1 2 0.3333 1 1/2 2 0.3333 9 9.25'
	lines <(emst --to=text a) '4 5 0.5/1 4 11.3137085'
	same <(emst -m 2 --to=labels b | rawtotext) '0 1 1 0 2 2'
	same <(emst -m 2 --to=means b | rawtotext | xargs) '7 7 1 1 1 1 7 7 90 93 90 93'
	emst -m 2 --to=palette b | head -n 1 | grep -x '0 2 0.3333'
	emst --to=colours a | rawtotext | tail -n 1 | grep -x '9 9.5 1 5'
	emst --together --to=text b b | tail -n 1 | grep '^1 4 '
	emst -o tree b
	same <(emst --tree=tree -m 2 --to=labels b | rawtotext) '0 1 1 0 2 2'
	# A sample that has the value in one plane only is a sample, and without the key all are.
	item uchar '2 2 1' 'kinds: vector domain domain' nodata:=0 -- 0 9 0 0 | emst --to=palette -m 1 | head -n 1 | grep -x '0 1 0.5000'
	sed /^nodata/d b | emst -m 2 --to=labels | rawtotext | run -1 grep -w 0
	fails 1 'emst: (stdin): no pixel has data' emst -m 1 --to=labels < <(item uchar '2 1' nodata:=5 -- 5 5)
	fails 1 'pixel 0 is not finite; --neighbours joins all pixels' emst --neighbours=4 -m 1 --to=labels a
}

@test "more than 65535 labels do not fit a PGM; raw holds them" {
	awk 'BEGIN { print "P3 256 257 255"; for (i = 0; i < 65792; i++) print int(i / 65536), int(i / 256) % 256, i % 256 }' >m.ppm
	fails 1 '65792 classes are more than the 65535 of a PGM; use --raw' emst --to=labels -m 1 m.ppm
	[ "$(emst --to=labels -m 1 --raw m.ppm | sed -n 's/^type: //p;/^$/q')" = uint ]
}

@test "2^31 points and 4097 coordinates are refused before they are read" {
	printf 'NRRD0005\ntype: uchar\ndimension: 2\nsizes: 1 2147483648\nkinds: list domain\nencoding: raw\n\n' >many.nrrd
	truncate -s 2200000000 many.nrrd
	fails 1 '2147483648 points; at most 2147483647' emst --max-bytes=4G many.nrrd
	printf 'NRRD0005\ntype: uchar\ndimension: 2\nsizes: 4097 2\nkinds: list domain\nencoding: raw\n\n' >wide.nrrd
	head -c 8194 /dev/zero >>wide.nrrd
	fails 1 '4097 coordinates; at most 4096' emst wide.nrrd
	gen --type=float --raw values 17x2 $(seq 34) >p.nrrd
	for o in '' --min-pts=2; do same <(emst --points $o --to=text p.nrrd) '0 1 70.09279564'; done
}

@test "options that exclude each other, numbers out of range, and more or larger classes than there are vertices are refused" {
	echo P3 1 1 255 7 7 7 >one.ppm
	item int '1 5' -- 0 0 1 5 5 >equal.nrrd
	item float '2 4 2' -- {1..16} >stack.nrrd
	all_fail emst <<-'END'
		1|there are only 6 colours|--to=labels -k 7 l.pgm
		1|there is only 1 colour|--to=labels -k 2 one.ppm
		1|there are only 9 pixels|--to=labels --neighbours=4 -k 10 l.pgm
		1|there are only 3 distinct points|--to=labels --points -k 4 equal.nrrd
		1|there are only 9 pixels|--to=labels -m 10 l.pgm
		1|there are only 9 pixels|--to=labels --min-pts=10 l.pgm
		1|items of one picture|--neighbours=4 stack.nrrd
		2|only one of|-m 2 --distance=2
		2|--genie goes with -k|--genie
		2|--cut=variance goes without|--cut=variance --distance=2
		2|--cut=length without|--cut=length --functional=.1
		2|give -k N|--cut=length --min-pts=2
		2|give -k N|--min-pts=3 -m 2
		2|--fill goes with|--fill
		2|--genie|-k 2 --genie=1.5
		2|only one of|--points --image
		2|--min-size: '0'|-m 0
		2|--min-size: '101%'|-m 101%
		2|--min-size: '1.5'|-m 1.5
		2|--classes|-k 0
		2|--functional|--functional=0
		2|standard output is for --to|--labels-to=-
		2|--method=brute makes the tree|--method=brute --min-pts=3
		2|--method=brute makes the tree|--method=brute --tree=x
		2|--method=brute makes the tree|--method=brute --neighbours=4
		2|--neighbours: '6' is not 4 or 8|--neighbours=6
		2|without --min-pts|--neighbours=4 --min-pts=3
		2|--scale goes with --neighbours|--scale=1
		2|only -m goes with it|--neighbours=4 --scale=1 -k 3
		2|makes no tree|--neighbours=4 --scale=1 --to=tree
		2|--together goes without --neighbours and --points|--together --points
		2|--to=colours goes without --neighbours and --points|--to=colours --neighbours=4
		2|--map: FILE has the classes, so -k is not needed|--map=x -k 2 --to=labels
		2|so --min-pts is not needed|--map=x --min-pts=2
		2|--map writes labels, means, palette and table|--map=x --to=tree
		2|--map writes labels, means, palette and table|--map=x --together --to=labels
		2|--method=brute: goes with a tree or classes|--to=colours --method=brute
		2|--tree: goes with a tree or classes|--to=colours --tree=x
		2|--min-pts: goes with a tree or classes|--to=colours --min-pts=2
	END
	for to in tree text linkage colours; do
		fail_alike 2 'chooses classes: give --to=labels, means, palette or table' "emst --to=$to @" \
			'-k 2' '-m 2' --cut=length --distance=2 --functional=.1 '--min-pts=2 --fill'
		fails 2 '--pnm: give --to=labels or means' emst --to=$to --pnm
	done
}

@test "a table of few columns and many rows is neither points nor a picture until that is said" {
	gen --type=float --raw values 2x16 $(seq 32) >table.nrrd
	fails 1 '2 columns and 16 rows: give --points' emst --to=text table.nrrd
	[ "$(emst --to=text --points table.nrrd | wc -l)" -eq 15 ]
	[ "$(emst --to=text --image table.nrrd | wc -l)" -eq 31 ]
	printf 'P2 2 16 255 %s\n' "$(seq -s ' ' 32)" | emst --to=text >/dev/null
}

@test "classes of a part of a picture do not pass for a part of its classes" {
	rawtile --grid=3x1 --only=0 l.pgm >part.nrrd
	grep -a 'tile:=' part.nrrd
	hints 'tile:= says that this is part of a picture' emst --to=text part.nrrd >out
	for kind in labels means; do
		emst --quiet --to=$kind part.nrrd >out.nrrd
		run -1 grep -a 'tile:=' out.nrrd
	done
}

# --- regions ---------------------------------------------------------------------------------

# A picture of two gray fields with a stray pixel, and the left field's gray once more on the right.
fields() {
	printf 'P2 6 3 255\n1 1 9 9 1 1\n1 5 9 9 1 1\n1 1 9 9 1 1\n'
}

# regions OPTION...: their numbers.
regions() {
	fields | emst --to=labels "$@" | tail -c 18 | od -An -v -tu1 -w6 | sed 's/^ *//; s/  */ /g'
}

@test "--neighbours keeps classes of one colour apart that do not touch" {
	lines <(regions --neighbours=4 -m 4) '1 1 2 2 3 3/1 1 2 2 3 3/1 1 2 2 3 3'
	same <(regions -m 2 | head -n 1) '1 1 2 2 1 1'
	same <(regions --neighbours=4 --cut=variance -k 3 -m 4) "$(regions --neighbours=4 -m 4)"
	lines <(regions --neighbours=4 --distance=0) '3 3 1 1 2 2/3 4 1 1 2 2/3 3 1 1 2 2'
}

@test "--neighbours alone makes few regions, by variance, of a hundredth of the pixels or more" {
	# Two halves, a spot of 8 pixels, and one pixel by itself.
	awk 'BEGIN { print "P2 30 20 255"; for (y = 0; y < 20; y++) for (x = 0; x < 30; x++)
		print (x == 3 && y == 3 ? 120 : x > 19 && x < 24 && y > 3 && y < 6 ? 250 : x < 15 ? 20 + y % 2 : 120 + y % 2) }' >spot.pgm
	lines <(emst --neighbours=4 --to=palette spot.pgm | cut -d' ' -f1,2) '1 300/2 292/3 8'
	emst --neighbours=4 --to=labels spot.pgm | cmp - <(emst --neighbours=4 --cut=variance -m 1% --to=labels spot.pgm)
}

@test "the tree of the grid: neighbours only, by length, direction and place" {
	printf 'P2 3 2 255 0 0 5 7 0 5\n' >g.pgm
	for n in 4 8; do
		lines <(emst --to=text --neighbours=$n g.pgm) '0 1 0/1 4 0/2 5 0/1 2 5/3 4 7'
	done
	printf 'P2 2 2 255 0 9 9 0\n' >x.pgm
	lines <(emst --to=text --neighbours=8 x.pgm) '0 3 0/1 2 0/0 1 9'
}

@test "--scale joins what is alike within, and -m joins what is small" {
	lines <(regions --neighbours=4 --scale=0.5 -m 1) '3 3 1 1 2 2/3 4 1 1 2 2/3 3 1 1 2 2'
	lines <(regions --neighbours=4 --scale=0.5 -m 2) '1 1 2 2 3 3/1 1 2 2 3 3/1 1 2 2 3 3'
	same <(regions --neighbours=8 --scale=1000 -m 1 | uniq) '1 1 1 1 1 1'
	fields | emst --neighbours=4 --scale=0.5 -m 2 | cmp - <(fields | emst --to=labels --neighbours=4 --scale=.5 -m 2)
	[ "$(fields | emst --neighbours=4 --scale=0.5 -m 2 --to=palette | head -n 1)" = '1 6 0.3333 1.66667' ]
}

@test "regions of wide samples are those of bytes" {
	gen --type=uchar --raw noise 40 30 >b.nrrd
	gen --type=ushort --raw noise 40 30 >w.nrrd
	for f in b w; do
		for t in 1 3; do
			emst -t $t --raw --neighbours=8 --scale=900 -m 5 $f.nrrd | tail -c 1200 >$f$t
		done
		cmp ${f}1 ${f}3
	done
	emst --raw --neighbours=8 -m 20 --to=labels b.nrrd >/dev/null
	printf 'P2 1 1 255 7\n' | emst --neighbours=8 --scale=1 -m 1 | tail -c 1 | cmp - <(printf '\1')
	printf 'P2 3 1 255 7 200 7\n' | emst --neighbours=8 --scale=1 | tail -c 3 | cmp - <(printf '\1\1\1')
}

# --- lists of colours, points with counts, several pictures together ---------------------------

@test "colours are listed with their pixels, in order" {
	printf 'P3 5 1 255 9 9 9 0 0 1 9 9 9 0 0 0 9 9 9\n' | emst --to=colours >c.nrrd
	says 'columns:=r g b count' colours:=uchar <c.nrrd
	lines <(rawtotext c.nrrd) '0 0 0 1/0 0 1 1/9 9 9 3'
	lines <(printf 'P2 4 1 255 7 7 2 7\n' | emst --to=colours | rawtotext) '2 1/7 3'
	printf 'P2 4 1 65535 700 700 2 700\n' | emst --to=colours >wide.nrrd
	grep -ax 'columns:=gray count place' wide.nrrd
	lines <(rawtotext wide.nrrd) '700 3 0/2 1 2'
}

@test "the colours of several pictures give what one picture of all pixels gives" {
	# A plane has few levels, so many colours are equal.
	gen --type=uchar --raw noise 24 30 | tail -c 720 | tr '\000-\377' '[\001*64][\002*64][\100*64][\104*64]' >px
	{ printf 'P6\n8 30\n255\n' && cat px; } >all.ppm
	{ printf 'P6\n8 11\n255\n' && head -c 264 px; } >a.ppm
	{ printf 'P6\n8 1\n255\n' && tail -c +265 px | head -c 24; } >b.ppm
	{ printf 'P6\n8 18\n255\n' && tail -c 432 px; } >c.ppm
	for how in --to=tree --to=linkage --to=colours; do
		emst "$how" all.ppm | rawtotext >want
		emst --together "$how" a.ppm b.ppm c.ppm | rawtotext | cmp - want
		for i in a b c; do emst --to=colours $i.ppm; done | emst --together "$how" | rawtotext | cmp - want
		{ emst --together --to=colours a.ppm b.ppm && emst --to=colours c.ppm; } |
			emst --together "$how" -t 2 | rawtotext | cmp - want
	done
	for how in '-m 9' '-k 3' '--cut=length -k 3' '-k 3 --genie' --distance=1 --functional=.1 --min-pts=4; do
		emst --to=palette $how all.ppm >want
		emst --together --to=palette $how a.ppm b.ppm c.ppm | cmp - want
		for i in c b a; do emst --to=colours $i.ppm; done | emst --together --to=palette $how | cmp - want
		emst --together --to=colours a.ppm b.ppm c.ppm | emst --to=palette $how | cmp - want
		for to in labels means; do
			emst --together --to=$to $how --palette-to=all a.ppm b.ppm c.ppm | rawtotext | grep . >parts
			emst --to=$to $how all.ppm | rawtotext | cmp - parts
			cmp all want
		done
	done
	emst --together a.ppm b.ppm c.ppm >t.nrrd
	emst --together --to=text a.ppm b.ppm c.ppm >want
	emst --together --tree t.nrrd --to=text c.ppm a.ppm b.ppm | cmp - want
}

@test "--to=table has the points with their classes" {
	texttoraw --columns=lon,lat <<<$'7 50\n12 42\n7 51\n7 50' >p.nrrd
	lines <(emst -k 2 --to=table p.nrrd | rawtotext --header) 'lon lat class/7 50 1/12 42 2/7 51 1/7 50 1'
	texttoraw --columns='x count' --type=float <<<$'.5 3\n9 1' | emst -k 2 --to=table | rawinfo | grep -x 'columns:=x class'
	fails 1 '--to=table takes points' emst --to=table <(printf 'P2 2 1 9 7 8\n')
}

@test "--map gives each colour the class of the same row, or of the nearest" {
	printf 'P3 6 1 255 9 9 9 0 0 1 9 9 9 0 0 0 9 9 7 5 5 5\n' >a.ppm
	printf '7 1 .5 0 0 2\n2 3 .5 10 9 8.4\n' >palette
	lines <(emst --map=palette a.ppm | rawtotext) '2 7 2 7 2 2'
	lines <(emst --map=palette --to=palette a.ppm) \
		'1 0 0.0000 0 0 0/2 4 0.6667 10 9 8.4/3 0 0.0000 0 0 0/4 0 0.0000 0 0 0/5 0 0.0000 0 0 0/6 0 0.0000 0 0 0/7 2 0.3333 0 0 2'
	lines <(emst --map=palette --to=means a.ppm | rawtotext) \
		'10 9 8/0 0 2/10 9 8/0 0 2/10 9 8/10 9 8'
	# A picture: its colours from the most pixels on. A list, and points: rows in order.
	printf 'P3 3 1 255 0 0 0 8 8 8 8 8 8\n' >b.ppm
	lines <(emst --map=b.ppm a.ppm | rawtotext) '1 2 1 2 1 1'
	lines <(emst --map=<(emst --to=colours b.ppm) a.ppm | rawtotext) '2 1 2 1 2 2'
	texttoraw <<<$'0 0\n4 0\n0 3' >p.nrrd
	texttoraw <<<$'4 0\n1 1\n-3 99\n2 0' >q.nrrd
	lines <(emst --points --map=p.nrrd q.nrrd | rawtotext) '2 1 3 1'
	lines <(emst -t 3 --points --map=p.nrrd --to=means q.nrrd | rawtotext) '4 0/0 0/0 3/0 0'
	# Exact rows among many: the tree's classes, which are not those of the nearest mean.
	gen noise 64 48 >n.pgm
	emst --cut=length -k 40 --to=labels n.pgm >want
	emst --to=colours n.pgm >colours
	emst --map=<(emst --cut=length -k 40 --to=means n.pgm) <(emst --cut=length -k 40 --to=means n.pgm) | cmp - want
	emst --map=colours --to=means n.pgm | cmp - n.pgm
}

@test "files that name no classes are refused" {
	printf 'P3 1 1 255 9 9 9\n' >a.ppm
	fails 1 'No such file' emst --map=none a.ppm
	for line in '1 2 3' 'x' '0 1 .5 1 2 3' '1.5 1 1 1 2 3' '1 1 1 1 2 3 x' $'1 1 1 1 2 3\n2 1 1 4'; do
		printf '%s\n' "$line" >palette
		fails 1 'palette' emst --map=palette a.ppm
	done
	printf '1 1 1 300 2 3\n' >palette
	emst --map=palette a.ppm | rawtotext | grep -x 1
	fails 1 'class 1 of --map has a sample 300, which is no uchar' emst --map=palette --to=means a.ppm
	fails 1 '3 samples; the rows of --map have 1' emst --map=<(printf 'P2 1 1 9 7\n') a.ppm
	fails 1 'it must be a file and not a pipe' emst --together --to=labels < <(cat a.ppm)
}

@test "colours that are numbered by place keep their numbers" {
	for type in ushort float; do
		# In the floats, the first pixels of the first and of a later tile have no data.
		none=$([ $type = float ] && echo nan || echo 4)
		item $type '2 3 6' 'kinds: vector domain domain' -- $none 7  5 5  1 7  3 3  5 5  9 9  3 3  1 8  1 7  9 2  5 5  6 1 \
			$none 7  1 7  0 0  5 5  3 3  8 8 >all.nrrd
		rawtile --size=3x2 all.nrrd >tiles.nrrd
		for how in --to=text '--to=palette -m 2'; do
			read -ra how <<<"$how"
			emst "${how[@]}" all.nrrd >want
			emst --quiet --together "${how[@]}" tiles.nrrd | cmp - want
			emst --quiet --to=colours tiles.nrrd | emst --together "${how[@]}" | cmp - want
			emst --quiet --to=colours all.nrrd | emst "${how[@]}" | cmp - want
		done
	done
}

@test "rows of a list of colours get labels and means" {
	printf 'P3 5 1 255 9 9 9 0 0 1 9 9 9 0 0 0 9 9 7\n' | emst --to=colours >c.nrrd
	same <(emst -m 2 --to=labels c.nrrd | rawtotext) '2 2 1 1'
	emst -m 2 --to=means c.nrrd >m.nrrd
	[ "$(grep -ac '^columns\|^colours' m.nrrd)" -eq 0 ]
	grep -ax 'type: uchar' m.nrrd
	lines <(rawtotext m.nrrd) '0 0 1/0 0 1/9 9 8/9 9 8'
}

@test "points with counts weigh what their copies weigh" {
	printf '0 0 1\n1 0 3\n9 9 2\n9 8 2\n1 0 1\n' | texttoraw --columns='x y count' >c.nrrd
	gen --type=float values 2x9 0 0 1 0 1 0 1 0 9 9 9 9 9 8 9 8 1 0 >p.nrrd
	for how in -m\ 4 --min-pts=4 '-k 2 --genie'; do
		emst --points --to=palette $how p.nrrd >want
		emst --to=palette $how c.nrrd | cmp - want
	done
	lines <(emst --to=text c.nrrd) '1 4 0/0 1 1/2 3 1/1 3 11.3137085'
}

@test "counts above 2^32 stay exact" {
	printf '0 3000000000000\n1 1\n10 5000000000\n12 5000000000\n' | texttoraw --columns='x count' >c.nrrd
	same <(emst -m 2147483647 --to=palette c.nrrd) '1 3000000000001 0.9967 3.33333e-13
2 5000000000 0.0017 10
3 5000000000 0.0017 12'
	lines <(emst --genie -k 2 --to=palette c.nrrd) '1 3000000000001 0.9967 3.33333e-13/2 10000000000 0.0033 11'
	printf 'P2 2 1 255 7 2\n' | emst --to=colours >one
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do
		cat one one one one | emst --together --to=colours >four
		mv four one
	done
	lines <(rawtotext one) '2 17179869184/7 17179869184'
	grep -ax 'type: double' one
	same <(emst -k 1 --to=palette one) '1 34359738368 1.0000 4.5'
}

@test "lists of colours that cannot be are refused" {
	list() {
		texttoraw --columns="$1" | sed "s/^columns:=/colours:=$2\ncolumns:=/"
	}
	fails 1 'row 1: want a count' emst --to=text <(printf '1 2\n2 0\n' | texttoraw --columns='x count')
	fails 1 'row 0: want a count' emst --to=text <(printf '1 2.5\n' | texttoraw --columns='x count')
	fails 1 'row 0: want a count' emst --to=text <(printf '1 nan\n' | texttoraw --columns='x count')
	fails 1 'row 1: want a count' emst --to=text <(printf '1 70368744177663\n3 1\n' | texttoraw --columns='x count')
	fails 1 'coordinate 0 of point 0 is not finite' emst --to=text <(printf 'nan 2\n' | texttoraw --columns='x count')
	fails 1 '1 columns: want the samples too' emst --to=text <(printf '1\n2\n' | texttoraw --columns=count)
	fails 1 'row 0 has a sample that is no uchar' emst --to=text <(printf '256 1\n' | list 'gray count' uchar)
	fails 1 'row 0 has a sample that is no uchar' emst --to=text <(printf '.5 1\n' | list 'gray count' uchar)
	fails 1 'does not end in count place' emst --to=text <(printf '5 1\n' | list 'gray count' ushort)
	fails 1 'row 1: want a place' emst --to=text <(printf '5 1 3\n6 1 3\n' | list 'gray count place' ushort)
	fails 1 'row 0: want a place' emst --to=text <(printf '5 1 -3\n' | list 'gray count place' ushort)
	fails 1 'colours:=word is not a type' emst --to=text <(printf '5 1\n' | list 'gray count' word)
	fails 1 'columns:= does not end in count' emst --to=text <(printf '5 1\n' | list 'gray n' uchar)
	printf '5 1\n6 1\n' | texttoraw --columns='gray count' >c.nrrd
	fails 1 'a list of points; --to=colours takes' emst --to=colours c.nrrd
	fails 1 'a list of points; --together takes' emst --together c.nrrd
	head -c -3 c.nrrd >short.nrrd
	run -1 emst --to=text short.nrrd
	printf 'P2 2 1 255 1 2\n' >g.pgm
	fails 1 'the items before have 1 of uchar' emst --together g.pgm <(printf 'P3 1 1 255 1 2 3\n')
	fails 1 'empty input' emst --together /dev/null
}
