load lib

# What holds for every program, shown on the small ones: options, files, output that appears whole.

@test "-- ends the options" {
	pgm 1 1 255 7 >-t
	pgmtoraw -- -t >a.nrrd
	same <(samples a.nrrd) 7
}

@test "a number is read whole and within its range, and named with its option; a list is refused with the form that --help shows" {
	fails 2 "-t, --threads: '2x' is not a whole number in 1..4096" rawtopnm -t 2x
	fails 2 "-t, --threads: '0'" rawtopnm -t 0
	fails 2 "-t, --threads: ''" rawtopnm --threads=
	fails 2 "--max-bytes: '-1'" rawtopnm --max-bytes=-1
	fails 2 "--max-bytes: '1Q'" rawtopnm --max-bytes=1Q
	fails 2 "--max-bytes: '0' is not a whole number in 1..4611686018427387904, or one before k, M, G or T" rawtopnm --max-bytes=0
	fails 2 "--max-bytes: '4611686018427387905' is not a whole number in 1..4611686018427387904" rawtopnm --max-bytes=4611686018427387905
	fails 2 "--min-size: '0' is not a whole number in 1..4503599627370496" rawlabel --min-size=0
	fails 2 "--node: '1000001' is not a whole number in 1..1000000, or" morphrec --node=1000001
	fails 2 "-e, --tol: '.6' is not a number above 0, at most 0.5" usfft -T 1 -n 4 -e .6
	fails 2 "--distance: '-1' is not a number in 0..1e+300" emst --distance=-1
	fails 2 "--max-bytes: '1e15' is not a whole number in 1..4611686018427387904, or one before k, M, G or T" rawtopnm --max-bytes=1e15
	fails 2 "--grid: '2' is not GXxGY, 2 numbers with 'x' between them" rawtile --grid=2
	fails 2 "--crop: '0:10' is not AXIS:FROM:TO with FROM less than TO, nor WxH+X+Y" rawaxes --crop=0:10
	fails 2 "--crop: '1:2:3:4' is not AXIS:FROM:TO with FROM" rawaxes --crop=1:2:3:4
	fails 2 "--flip: '1,' is not AXES: 0 to 15, x, y, z or c, with commas between them" rawaxes --flip=1,
	fails 2 "-q: '1:2' is not LO:HI:N, 3 numbers" radon -q 1:2 -X 1
	fails 2 "--point: '1,2x' is not X,Y, 2 numbers" dptrace -p 1,2x
	fails 2 "--mute: 'x' is not a number" radon -q 0:1:2 -X 1 --mute=x
}

@test "a whole number is exact or refused, and one whose exponent stands for its last digits is neither" {
	pgm 1 1 9 1 >a
	for n in 9007199254740993 18446744073709551617 9.007199254740993e15 9007199254740993.00 90071992547409930E-1 100000000000000000000000; do
		fails 2 "--above: '-$n' has more digits than a double" rawlabel --above="-$n" a
		fails 2 "--size: '$n' has more digits than a double" rawtile --size="8x$n" a
		fails 2 "a number has more digits than a double at character 3 of 'a+$n'" rawmath "a+$n" a
	done
	for n in 18446744073709551616 9007199254740994.0 90071992547409920e-1 1e23 1.7976931348623157e308 000.10 0e9 1e-400 0x1p60; do
		rawmath "$(rawlabel --above="-$n" a | rawtotext) == (a > -$n)" a | rawtotext | grep -x 1
	done
}

@test "a number inside an option or a key is read by the same rules: no blanks, no wrapping, nothing behind it" {
	pgm 1 1 9 1 >a.pgm
	local odd
	for odd in ' 1' '+1' 4294967297 18446744073709551617 1e0 -1 1.5 '1,' ''; do
		fails 2 "--basis: 'poly:$odd' is not poly:DEG" wconv -k a.pgm --basis="poly:$odd" a.pgm
		[ -z "$odd" ] || fails 1 'is not poly:DEG' wconv -k <(item float '1 1' "basis:=poly:$odd" -- 1) a.pgm
		[ "$odd" != 4294967297 ] || continue # kernels may be so many
		fails 2 "--grid: '${odd}x1' is not GXxGY" wconv -k a.pgm --grid="${odd}x1" a.pgm
		fails 2 "--grid: '1x$odd' is not GXxGY" wconv -k a.pgm --grid="1x$odd" a.pgm
	done
	for odd in ' 1' '1,' 1_2 '1 ' nan; do
		fails 2 "--shape=line:$odd: '$odd' is not a number" morphrec --open=1 --shape="line:$odd" a.pgm
		fails 2 "--open: '$odd' is not a " morphrec --open="$odd" a.pgm
		fails 2 "--cols: '0,$odd' is not X,..., " wconv -k a.pgm --cols="0,$odd" a.pgm
		fails 1 'is not 2 numbers' wconv -k <(item float '1 1 2 1' "cols:=0 $odd,1" -- 1 1) a.pgm
	done
}

@test "an option that writes a file is not abbreviated" {
	pgm 1 1 1 1 >a
	fails 2 "option '--lab=8' is unknown; is it --labels-to, which writes a file?" emst --lab=8 a
	fails 2 "option '--labels' is unknown; is it --labels-to, which writes a file?" emst --labels 8 a
	fails 2 "option '--over=8' is unknown; is it --overlay, which writes a file?" dptrace --over=8 -p 0,0 a
	fails 2 "option '--ou' is unknown; is it --out, which writes a file?" rawaxes --ou 8 a
	rawaxes --out b a
	rawaxes --out=b -o --labels a
	rawaxes --verb a 2>/dev/null | cmp - b
	cmp b ./--labels
}

@test "a file without a name is refused with its option, and an option without its argument is named" {
	fails 2 "-o, --out: '' is the name of no file" rawinfo -o ''
	fails 2 "--headers: '' is the name of no file" rawtosu --headers=
	fails 2 "-m, --mask: '' is the name of no file" morphrec -m ''
	fails 2 "rawinfo: '' is the name of no file" rawinfo ''
	fails 2 "'-t' needs an argument" rawtopnm -t
	fails 2 "'--range' needs an argument" rawtopnm --range
}

@test "a message that echoes much is cut in its middle" {
	fails 2 '000 ... 000' rawaxes --flip="$(printf '%09000d' 0),"
	grep "0,' is not AXES: 0 to 15, x, y, z or c, with commas between them$" stderr
	[ "$(wc -c <stderr)" -lt 640 ]
	run -1 rawinfo "$(printf 'é%.0s' {1..400})/x"
	printf '%s\n' "$output" | iconv -f utf-8 -t utf-8 | grep 'é ... é.*/x: '
}

@test "a file that its name calls PNG or the like holds something else, and a warning says so" {
	gen noise 9 9 >a.pgm
	same <(rawaxes -o x.png a.pgm 2>&1) 'rawaxes: x.png: the file holds PNM, not PNG: pipe to rawtopng'
	same <(wconv -k a.pgm -o x.JPG a.pgm a.pgm 2>&1) 'wconv: x.JPG: the file holds weir-raw, not JPEG: pipe to rawtopnm | pnmtojpeg'
	pgmtoraw a.pgm 2>&1 >x.gif | grep '^pgmtoraw: .*/x.gif: the file holds weir-raw, not GIF: pipe to rawtopnm | pamtogif'
	same <(pgmtoraw -o x.fits a.pgm 2>&1) 'pgmtoraw: x.fits: the file holds weir-raw, not FITS: pipe to rawtofits'
	dptrace -p 1,1 -p 7,7 --overlay=o.png -o t.csv --to=csv a.pgm 2>&1 | grep 'dptrace: o.png: the file holds PNM, not PNG: pipe to rawtopng'
	for command in rawtotiff.tif rawtofits.fits rawtonpy.npy rawtotext.csv pgmtoraw.nrrd pgmtoraw.pgm; do
		${command%.*} -o x.${command#*.} a.pgm 2>&1 | cmp - /dev/null
	done
}

@test "WEIR_CPU lowers the level of instructions, and a misspelt level is refused" {
	local level
	for level in generic avx2 avx512; do WEIR_CPU=$level rawtopnm -V | grep '^CPU:' >>levels; done
	env -u WEIR_CPU rawtopnm -V | grep '^CPU:' | diff - <(tail -n 1 levels)
	same <(head -n 1 levels) 'CPU: generic'
	fails 2 "WEIR_CPU 'AVX2': must be generic, avx2 or avx512" env WEIR_CPU=AVX2 rawtopnm
}

@test "--stats prints one JSON object on one line to stderr, and counts items and bytes" {
	pgm 1 1 255 7 >a.pgm
	pgmtoraw --stats a.pgm a.pgm >out 2>err
	[ "$(wc -l <err)" -eq 1 ]
	grep -qE '^\{"program": "pgmtoraw", .*"items": 2,.*"seconds": \{.*\}.*\}$' err
	grep -q "\"bytes_out\": $(wc -c <out)" err
}

@test "a directory is no input, a missing file is named, and an error in a later item with its number" {
	mkdir d
	fails 1 "d: Is a directory" pgmtoraw d
	fails 1 "nowhere.pgm: No such file" pgmtoraw nowhere.pgm
	pgm 1 1 255 7 >a.pgm
	fails_later 1 'pgmtoraw: (stdin): item 2: the payload ends after 2 of 4 bytes' pgmtoraw < <(cat a.pgm && printf 'P5 2 2 255\nab')
}

@test "blanks may stand between plain pictures" {
	printf 'P2 1 1 9 7\n\n \nP2 1 1 9 8\n\n' | pgmtoraw | rawinfo | grep -c '^# ' | grep -x 2
}
