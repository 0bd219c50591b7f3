load lib

# levels TYPE SIZES VALUES -- OPTION...: the levels that rawtopnm makes of these values. A test may ask for two at a time.
levels() {
	local type=$1 sizes=$2 values=$3 file=levels.$BASHPID.nrrd
	shift 4
	gen --type="$type" --raw -- values "$sizes" $values | rawtopnm "$@" | pgmtoraw >"$file"
	samples "$file"
}

@test "samples become levels, by hand" {
	same <(levels float 3x1 '-10 0 10' --) '0 128 255'
	same <(levels float 2x1 '7 7' --) '0 0'
	# What lies outside a range is clipped; from high to low, it turns the picture negative.
	same <(levels float 5x1 '-1 0 1 2 3' -- --range=0:2) '0 0 128 255 255'
	same <(levels float 3x1 '0 1 2' -- --range=2:0) '255 128 0'
	# Percentiles are samples of that rank: of 11 samples, p10 is the second, p90 the tenth.
	same <(levels float 11x1 '1000 1 2 3 4 5 6 7 8 9 -1000' -- --range=p10:p90) '255 0 32 64 96 128 159 191 223 255 0'
	same <(levels double 5x1 '-3e-300 -2e-300 -1e-300 1e-300 9e300' -- --range=p25:p75 --maxval=3) '0 0 1 3 3'
	same <(levels float 3x1 '1 2 4' -- --range=0:p50) '128 255 255'
	# Square roots, and decades evenly: what has no logarithm is black.
	same <(levels float 3x1 '0 0.25 1' -- --gamma=2) '0 128 255'
	same <(levels float 5x1 '1 10 100 0 -5' -- --log) '0 128 255 0 0'
	# NaN is black and does not disturb the range.
	same <(levels float 4x1 'nan 1 inf 2' --) '0 0 255 255'
	same <(levels float 2x1 'nan nan' --) '0 0'
	same <(levels float 1x1 'nan' -- --signed) '0 0 0'
	same <(levels float 2x1 '0 1' -- --maxval=65535) '0 65535'
	same <(levels uchar 2x1 '0 255' -- --maxval=100) '0 100'
	# Of a range beyond the largest number, too.
	same <(levels double 3x1 '-1.7e308 0 1.7e308' --) '0 128 255'
	same <(levels double 3x1 '-1.7e308 0 1.7e308' -- --range=p100:p0) '255 128 0'
	same <(levels double 3x1 '-1e308 7 5e307' -- --range=-1e308:1e308) '0 128 191'
	# --signed fades from blue over white to red, with zero white. Complex samples are shown by magnitude.
	lines <(levels float 4x1 '-2 0 1 2' -- --signed) '0 0 255/255 255 255/255 128 128/255 0 0'
	complex | rawtopnm --range=0:5 | shows '255 51' pgmtoraw
}

@test "--labels gives each number a colour of its own, the same in every picture" {
	local all type
	all=$(levels ushort 25x1 "$(seq -s ' ' 0 24)" -- --labels)
	[ "$(head -n 1 <<<"$all")" = '0 0 0' ] && [ "$(sort -u <<<"$all" | wc -l)" -eq 25 ]
	for type in uchar int int64 float double; do
		same <(levels $type 3x1 '0 3 24' -- --labels -t 7) "$(sed -n '1p;4p;25p' <<<"$all")"
	done
	same <(levels float 4x1 'nan inf -.3 1' -- --labels) "$(levels int 4x1 '0 0 0 1' -- --labels)"
	# rawlabel of a PNM gives labels, which are nearly black as levels.
	printf 'P2 5 1 1 1 0 1 0 1\n' | rawlabel | rawtopnm --labels | pgmtoraw >a.nrrd
	same <(samples a.nrrd) "$(levels int 5x1 '1 0 2 0 3' -- --labels)"
	hints 'item 1: levels up to 1 of 65535 look black; see --labels and --range=minmax' rawtopnm <(item int '2 2' -- 0 1 0 1)
}

complex() {
	item float '2 2' 'kinds: complex domain' -- 3 4 -1 0
}

@test "integers, and floats that carry a maxval, come back exactly; what fits no PNM is refused, not clipped" {
	same <(levels uchar 3x1 '0 7 255' --) '0 7 255'
	for type in ushort int int64; do same <(levels $type 3x1 '0 7 65535' --) '0 7 65535'; done
	fails 1 "-1 to 2 do not fit 0 to 65535" rawtopnm <(gen --type=int -- values 2x1 -1 2)
	fails 1 "1 to 65536" rawtopnm <(gen --type=uint values 2x1 1 65536)
	gen --type=float --maxval=1000 -- values 4x1 -1 99.6 1000 1001 | rawtopnm | shows '0 100 1000 1000' pgmtoraw
}

@test "a stack becomes as many pictures as it has, a kernel grid slice by slice; --slice takes one place of an axis" {
	gen --type=uchar --raw values 2x1x2 1 2 3 4 | rawtopnm >a.pgm
	same <(grep -ac P5 a.pgm) 2
	gen kernels 3 2 2 >k.nrrd
	fails 1 "--slice" rawtopnm k.nrrd
	rawtopnm --slice=3:0 k.nrrd | grep -ac P5 | grep -x 2
	lines <(levels uchar 2x2x2 '1 2 3 4 5 6 7 8' -- --slice=2:1) '5 6/7 8'
	lines <(levels uchar 2x2x2 '1 2 3 4 5 6 7 8' -- --slice=0:1) '2 4/6 8'
	same <(levels uchar 2x2x2 '1 2 3 4 5 6 7 8' -- --slice=0:1 --slice=2:0) '2 4'
	same <(levels uchar 2x2x2 '1 2 3 4 5 6 7 8' -- --slice=2:0 --slice=1:1 --slice=0:0) 3
	gen values 2x2 1 2 3 4 >a.nrrd
	fails 1 "--slice: the item has no axis 2" rawtopnm --slice=2:0 a.nrrd
	fails 1 "--slice: axis 1 has 2 samples" rawtopnm --slice=1:2 a.nrrd
	fails 1 "twice" rawtopnm --slice=1:1 --slice=1:0 a.nrrd
}

@test "a wrong argument is named with the option" {
	fails 2 "--range: '1'" rawtopnm --range=1
	fails 2 "--range: '1:1'" rawtopnm --range=1:1
	fails 2 "--range: 'p101:p3'" rawtopnm --range=p101:p3
	fails 2 "--range: '1:2x'" rawtopnm --range=1:2x
	fails 2 "--range: '0:1'" rawtopnm --log --range=0:1
	fails 2 "--gamma: '0'" rawtopnm --gamma=0
	fails 2 "--maxval: '65536'" rawtopnm --maxval=65536
	fails 2 "--slice: '1'" rawtopnm --slice=1
	fails 2 "--slice: '-1:0'" rawtopnm --slice=-1:0
	fails 2 "--signed excludes" rawtopnm --signed --log
	fails 2 "--labels excludes" rawtopnm --labels --signed
	fails 2 "--labels excludes" rawtopnm --labels --gamma=2
	fails 1 "--labels: it has colours already" rawtopnm --labels <(gen --type=uchar values 3x1x1 1 2 3 | sed 's/^kinds: .*/kinds: RGB-color domain domain/')
	fails 1 "--labels: complex samples have no numbers" rawtopnm --labels <(complex)
}

@test "the same bytes for any number of threads" {
	gen --type=float smooth 300 200 3 >a.nrrd
	rawtopnm -t 1 --range=p1:p99 --gamma=1.7 a.nrrd >want
	rawtopnm -t 7 --range=p1:p99 --gamma=1.7 a.nrrd | cmp - want
}
