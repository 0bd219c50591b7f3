load lib

@test "each item is described by its header and its samples" {
	gen --type=float -- values 2x2 1 nan -3 4 >a.nrrd
	lines <(rawinfo a.nrrd) '# a.nrrd: item 1, raw, 16 bytes of samples/type: float/dimension: 2/sizes: 2 2/kinds: domain domain/endian: little/encoding: raw/min: -3/max: 4/mean: 0.666666667/nan: 1'
	pgm 1 1 255 65 >a.pgm
	lines <(cat a.pgm a.pgm | rawinfo | grep '^#') '# (stdin): item 1, PNM, 1 bytes of samples/# (stdin): item 2, PNM, 1 bytes of samples'
}

@test "a mean is right where no double holds the sum, and infinities are counted apart" {
	item double '3 2' -- 1.7e308 1.7e308 -1.7e308 -1.7e308 3 5 | rawinfo | grep -x 'mean: 1.33333333'
	item double 3 -- 1.7976931348623157e308 nan 1.7976931348623157e308 | rawinfo --json | grep '"mean": 1.7976931348623157e+308,'
	gen --type=double -- values 4x1 inf -inf 2 nan >a.nrrd
	lines <(rawinfo a.nrrd | tail -n 5) 'min: 2/max: 2/mean: 2/nan: 1/inf: 2'
	# Large sums are exact where the samples are integers.
	gen --type=ushort constant 1000 1000 1 | rawinfo | grep -x 'mean: 65535'
}

# negatives NUMBER ...: a row of floats given as hexadecimal bits, the first byte last.
negatives() {
	printf 'NRRD0005\ntype: float\ndimension: 2\nsizes: %d 1\nspacings: .004 nan\nendian: big\nencoding: raw\n\n' $#
	for bits; do printf '%b' "\\x${bits:0:2}\\x${bits:2:2}\\x${bits:4:2}\\x${bits:6:2}"; done
}

@test "the sign of a zero or a NaN is not shown to users" {
	negatives 80000000 80000000 >zeros
	lines <(rawinfo zeros | grep '^m[aie]') 'min: 0/max: 0/mean: 0'
	rawinfo --json zeros | grep -F '"min": 0, "max": 0, "mean": 0'
	rawtopnm -v zeros 2>&1 >/dev/null | grep ': 0 to 0 become'
	rawlabel --above=-1 --to=csv zeros >table
	run -1 grep -e -0 table
	negatives 3f800000 ffc00000 >nan
	fails 1 'sample 2 is nan' radon -q 0:0:1 -X 1 --offsets=<(echo 1) nan
	fails 1 'sample 1,0 is nan' dptrace -p 0,0 -p 1,0 nan
	fails 1 'weight 1 is nan' usfft -T 1 -n 2,2 --weights=nan <(gen --type=double values 4x2 .1 .2 3 4 .3 .4 5 6)
	fails 1 ', nan, is no uchar' texttoraw --type=uchar <(echo -nan)
}

@test "the byte order is the file's" {
	printf 'NRRD0004\ntype: ushort\ndimension: 1\nsizes: 1\nendian: big\nencoding: raw\n\n\1\2' >a.nrrd
	rawinfo a.nrrd | grep -x -e 'endian: big' -e 'max: 258' | wc -l | grep -x 2
}

@test "--skip is the offset of the payload" {
	gen --type=uchar --raw values 4x1 104 111 108 97 >a.nrrd
	[ "$(tail -c +$(($(rawinfo --skip a.nrrd) + 1)) a.nrrd)" = hola ]
	cat a.nrrd a.nrrd >b.nrrd
	same <(rawinfo --skip b.nrrd) "$(rawinfo --skip a.nrrd)
$(($(wc -c <a.nrrd) + $(rawinfo --skip a.nrrd)))"
	fails 1 'a pipe has no offsets' bash -c 'cat a.nrrd | rawinfo --skip'
	fails 2 'exclude' rawinfo --json --skip
}

@test "--robust: median, deviation and clipped mean of what is finite, the same of samples that are counted or ordered" {
	# The median of 24 numbers is between two of them. 200 is left out, and then nothing is.
	for type in uchar short int uint64 float double; do
		gen --type=$type values 6x4 9 10 10 10 10 10 10 10 10 10 10 11 11 11 11 11 11 11 11 11 11 12 12 200 >a
		lines <(rawinfo --robust a | sed '1,/^nan/d') 'median: 11/mad: 1.4826/clipped mean: 10.5652174/clipped sd: 0.711769806'
	done
	gen --type=float -- values 8x1 nan inf 1 2 4 8 -inf nan >a
	[ "$(rawinfo --robust a | sed '1,/^inf/d' | cut -d ' ' -f 2 | paste -sd ' ')" = '3 2.2239 mean: sd:' ]
	gen --type=double -- values 4x1 -1.7e308 1.7e308 1.7e308 1.6e308 >a
	[ "$(rawinfo --robust a | tail -n 2 | paste -sd ,)" = 'clipped mean: 8.25e+307,clipped sd: 1.45838095e+308' ]
	gen values 1x1 nan >a
	[ "$(rawinfo --robust --percentiles=5 --histogram=2 a | tail -n 2 | paste -sd ,)" = 'nan: 1,histogram: 0' ]
	for type in uchar short; do
		gen noise 301 257 | rawmath --type=$type 'a * a / 300' - >a
		rawinfo --robust --percentiles=.1,30,99 --histogram=7 a | sed '1,/^nan/d' >b
		rawmath --type=double a a | rawinfo --robust --percentiles=.1,30,99 --histogram=7 | sed '1,/^nan/d' | cmp - b
	done
}

@test "--percentiles fall between ranks, and -0 and 0 are one number" {
	gen --type=float -- values 6x1 -0 10 0 20 40 30 >a
	[ "$(rawinfo --percentiles=0,50,90,100 a | tail -n 4 | paste -sd ,)" = 'p0: 0,p50: 15,p90: 35,p100: 40' ]
	rawinfo --json --percentiles=90 a | grep -F '"inf": 0, "p90": 35}'
	fails 2 '--percentiles: 101 is not in 0..100' rawinfo --percentiles=5,101 a
	fails 2 '--skip excludes' rawinfo --skip --histogram a
	item float '2 3 1' 'kinds: complex domain domain' -- 1 2 3 4 5 6 >c
	fails 1 'complex numbers have no order' rawinfo --robust c
}

@test "--histogram: N bins from the least to the greatest, or one for each of fewer integers" {
	gen --type=float -- values 6x1 -2 0 .5 1 2 nan >a
	[ "$(rawinfo --histogram=4 a | tail -n 5 | paste -sd ,)" = 'histogram: 4,-2 1,-1 0,0 2,1 2' ]
	gen --type=int -- values 4x1 -1 2 2 1 >a
	[ "$(rawinfo --histogram a | tail -n 5 | paste -sd ,)" = 'histogram: 4,-1 1,0 0,1 1,2 2' ]
	rawinfo --json --histogram=2 a | grep -F '"histogram": [[-1, 1], [0.5, 3]]}'
	gen --type=double values 2x1 3 3 | rawinfo --histogram | tail -n 1 | grep -x '3 2'
	gen --type=double -- values 2x1 -1.5e308 1.5e308 | rawinfo --histogram=2 | tail -n 1 | grep -x '0 1'
}

@test "--json is one object a line with null where JSON has no number, and escapes what a key may hold" {
	gen --type=float values 1x1 nan >a.nrrd
	same <(rawinfo --json a.nrrd a.nrrd | head -n 1) '{"file": "a.nrrd", "item": 1, "format": "raw", "type": "float", "axes": [{"size": 1, "kind": "domain", "center": null, "spacing": null, "min": null, "label": null, "unit": null, "direction": null}, {"size": 1, "kind": "domain", "center": null, "spacing": null, "min": null, "label": null, "unit": null, "direction": null}], "origin": null, "space": null, "endian": "little", "keys": [], "min": null, "max": null, "mean": null, "nan": 1, "inf": 0}'
	[ "$(rawinfo --json a.nrrd a.nrrd | wc -l)" -eq 2 ]
	printf 'NRRD0005\ntype: uchar\ndimension: 1\nsizes: 1\nencoding: raw\nsay:="a\\b"\t\n\nx' | rawinfo --json |
		grep -F '["say", "\"a\\b\"'
}

@test "what a header says commands no terminal" {
	local esc=$'\e' bell=$'\a'
	item uchar "1 1" "labels: \"${esc}]0;title$bell\" \"tab	stays\"" "k${esc}[2J:=v${esc}[31m" "columns:=a${esc}[2J$bell" -- 7 >a.nrrd
	rawinfo a.nrrd >text
	run -1 grep -aq "[$esc$bell]" text
	grep -Fx 'labels: "\x1b]0;title\x07" "tab	stays"' text
	grep -Fx 'k\x1b[2J:=v\x1b[31m' text
	lines <(rawtotext --header a.nrrd) 'a\x1b[2J\x07/7'
	rawinfo --json a.nrrd | grep -F '["k\u001b[2J", "v\u001b[31m"]'
}

@test "a terminal is welcome" {
	script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip "no terminal can be had"
	gen values 1x1 5 >a.nrrd
	script -qec 'rawinfo a.nrrd' typescript </dev/null >/dev/null 2>&1
	grep -q '^max: 5' typescript
}
