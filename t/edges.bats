load lib

# Hostile and degenerate input, the same for every program. Each test goes over all programs that are built, with the
# arguments in this table. skeleton is the filter to copy, of the tests' own (CONTRIBUTING.md). A word in the second column takes a program out of the tests that it is the name of:
# text: it writes text, and is welcome on a terminal; counted: it counts the items it writes about; own: it is in none, since
# pictures are no input for it, and has its hostile input on a page of its own.
table='
pgmtoraw	-
rawtopnm	-
rawinfo		text,counted
rawtotext	text,counted
rawtile		-		--size=8x8
rawjoin		-
rawaxes		-		--flip=0
rawlabel	-
rawphot		text,counted	--at=places.csv --radius=2
rawdist		-
rawback		-
rawwarp		-		--like=image
rawstack	-		--split --planes
rawtonpy	-
rawmath		-		a*2
texttoraw	own
wconv		-		-k kernel.nrrd
psfmatch	own
morphrec	-		--hmax=3
emst		-		--to=labels --distance=3
rawpalette	-		--colours=3
dptrace		text		--quiet --to=wkt -p -.5,-.5 -p .5,.5
usfft		-		-T 2 -p points.nrrd
radon		own
rawnmo		own
sutoraw		own
rawtosu		own
segytoraw	own
rawtosegy	own
fitstoraw	own
rawtofits	counted
pngtoraw	own
rawtopng	counted
tifftoraw	own
rawtotiff	counted
skeleton	-	-G 2
weir		own
'

prepare() {
	gen kernels 3 2 2 >kernel.nrrd
	gen --type=double values 2x3 0 0 .1 .2 .3 .4 >points.nrrd
	printf 'x,y\n3,4\n' >places.csv
	gen noise 16 12 >image # P5, a header of 13 bytes
	cp image input
	unless=
}

# each FUNCTION [ARGUMENT ...]: calls it, once for every program, with the program and its arguments at the end; not for
# those that have the word $unless in the table.
each() {
	local program words arguments
	while read -r program words arguments; do
		[ -n "$program" ] && command -v "$program" >/dev/null || continue
		[[ ,$words, != *,own,* ]] || continue
		[[ -z $unless || ,$words, != *,$unless,* ]] || continue
		"$@" "$program" $arguments
	done <<<"$table"
}

# exits STATUS TEXT COMMAND...: reads the file `input`, exits with STATUS, and says TEXT in its only line on stderr, or
# nothing when TEXT is empty. What goes out is in `out`, unless the command has a place for it.
exits() {
	local status=$1 text=$2 lines=0 got=0
	shift 2
	[ -z "$text" ] || lines=1
	"$@" <input >out 2>err || got=$?
	if [ $got -ne "$status" ] || [ "$(wc -l <err)" -ne $lines ] || [[ $(<err) != *"$text"* ]]; then
		complain "$*: exit $got, expected $status and '$text': $(head -c 300 err)"
	fi
}

@test "every program has a line in the table" {
	for program in "$B"/*; do
		[ -f "$program" ] && [ -x "$program" ] || continue
		grep -qE "^${program##*/}([[:space:]]|\$)" <<<"$table" || complain "no line for ${program##*/}"
	done
}

@test "256 KB of stack do" {
	! sanitized || skip 'the sanitizers need more'
	gen --type=ushort noise 300 200 >input
	each exits 0 '' bash -c 'ulimit -s 256 && exec "$0" "$@" --quiet'
}

@test "input that is empty or breaks off is refused, in its payload with both byte counts" {
	: >input
	each exits 1 '(stdin): empty input'
	for head in 'NRRD0005\ntype: float\ndimension: 2\nsizes: 16 12\n' 'P5\n16 1' '\x93NUMPY\1\0\166\0{' 'Pf\n16'; do
		printf "$head" >input
		each exits 1 '(stdin): '
	done
	head -c 100 image >input
	each exits 1 " of 192 bytes"
}

@test "bytes after the last item are no item" {
	cat image <(echo rubbish) >input
	each exits 1 'does the header before them state the right sizes'
	cat image <(printf '\n\n') >input
	each exits 1 'first bytes are 0a 0a;'
	printf '\n' >input
	each exits 1 'first bytes are 0a'
}

@test "a newline that an editor has added to a file of items is no item" {
	printf 'P5 1 1 255\nA\n' | rawinfo >out
	[ "$(grep -c ^type out)" -eq 1 ]
	printf 'P5 1 1 255\nA\r\n' >a
	cp a b
	rawtopnm a b | cmp - <(printf 'P5\n1 1\n255\nAP5\n1 1\n255\nA')
	cat image <(echo) >input
	cp image whole
	for program in pgmtoraw rawtotext rawtonpy rawinfo; do
		"$program" whole >want
		"$program" input | sed 's/input/whole/' | cmp - want
		"$program" <input >/dev/null
	done
}

@test "a header without end, one that claims 2^60 bytes, and sizes whose product overflows are refused at once" {
	printf 'NRRD0005\ntype: uchar\ndimension: 2\nsizes: 1073741824 1073741824\nencoding: raw\n\n' >input
	each exits 1 '--max-bytes'
	printf 'P5\n2147483647 2147483647\n255\n' >input
	each exits 1 '(stdin): '
	printf 'NRRD0005\ntype: double\ndimension: 3\nsizes: 4294967296 4294967296 16\nendian: little\nencoding: raw\n\n' >input
	each exits 1 'overflow'
	{ printf 'NRRD0005\n' && head -c 70000000 /dev/zero | tr '\0' '#'; } >input
	each exits 1 'longer than'
}

@test "an unknown format is refused, and its first bytes are shown; of PNG, the tool that converts it is named" {
	printf 'hello, world\n' >input
	each exits 1 '68 65 6c 6c 6f'
	echo 1 2 3 >numbers
	fails 1 'are 31 20 32 20 33 0a; if it is a table, type: texttoraw numbers | rawinfo' rawinfo numbers
	printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR' >input
	each exits 1 '(stdin): this is PNG; type: pngtoraw FILE | '
}

@test "a file of another format is answered by the whole command that reads it" {
	printf '\x89PNG\r\n\x1a\n' >'a b.png'
	printf 'x,y\n1,2\n' >p.csv
	pgm 1 1 255 7 >a.pgm
	while IFS=% read -r typed right; do
		same <(bash -c "$typed" 2>&1 | sed 's/.* type: //') "$right"
	done <<-'END'
		wconv -k a.pgm 'a b.png' -t 1%pngtoraw 'a b.png' | wconv -k a.pgm -t 1
		rawmath 'd > b' d=a.pgm b='a b.png'%rawmath 'd > b' d=a.pgm b=<(pngtoraw 'a b.png')
		rawinfo --robust <'a b.png'%pngtoraw FILE | rawinfo --robust
		usfft -T 1 -n 4 p.csv%texttoraw --header p.csv | usfft -T 1 -n 4
	END
}

@test "a known format is refused at once, while the pipe that it comes through is open" {
	refused() { # MAGIC TEXT
		mkfifo pipe
		tail -f /dev/null >pipe & # holds it open
		local holder=$!
		printf "$1" >pipe &
		fails 1 "$2" timeout 20 rawinfo <pipe
		kill $holder
		rm pipe
	}
	refused '\x89PNG\r\n\x1a\n\0' '(stdin): this is PNG; type: pngtoraw FILE | rawinfo'
	refused '\x89HDF\r\n\x1a\n\0' 'this is HDF5; save its samples as .npy in Python, by h5py and numpy.save'
	refused 'hello, world' 'unknown format: the first bytes are 68 65'
	refused "$(printf '\\0%.0s' {1..128})DICM$(printf '\\0%.0s' {1..220})" 'this is DICOM; convert it with dcm2pnm'
	refused "$(printf '\\1\\377%.0s' {1..200})" 'unknown format: the first bytes are 01 ff 01 ff'
}

@test "formats of other programs are named" {
	zeros() { head -c "$1" /dev/zero; }
	while read -r magic what; do
		{ printf "$magic" && zeros 600; } >input
		fails 1 "input: this is $what" rawinfo input
	done <<-'END'
		BM BMP; type: bmptopnm input | rawinfo
		\xff\xd8\xff JPEG; type: jpegtopnm input | rawinfo
		RIFFxxxxWEBPVP8 WebP; convert it with dwebp
		RIFFxxxxWAVEfmt a sound; save its samples as .npy in Python, by scipy.io.wavfile
		\0\0\0\x18ftypheic HEIF
		MATLAB\x205.0\x20MAT-file a MATLAB file; save
		MATLAB\x207.3\x20MAT-file a MATLAB file in HDF5; save
		CDF\1 NetCDF; save
		\x1c\x02\0\0n+2\0 NIfTI; save
		\x1f\x8b\x08 gzip; unpack it with gzip -dc
		\x1f\x9d\x90 compress; unpack it with gzip -dc
		BZh9 bzip2; unpack it with bzip2 -dc
		\xfd7zXZ\0 xz; unpack it with xz -dc
		\x28\xb5\x2f\xfd zstd; unpack it with zstd -dc
		%%PDF-1.4 PDF; convert its pages with pdftoppm
		8BPS a Photoshop file; save it as TIFF
		GRIB GRIB; make TIFF of it with gdal_translate
	END
	{ printf '\x5c\1\0\0' && zeros 340 && printf 'n+1\0' && zeros 600; } >input
	fails 1 'input: this is NIfTI; save' rawinfo input
	{ printf '\1' && zeros 207 && printf 'MAP DA\0\0' && zeros 600; } >input
	fails 1 'input: this is MRC; save' rawinfo input
	{ printf '\0\0\0\x0cjP  \r\n' && zeros 600; } >input
	fails 1 'input: this is JPEG 2000; type: jpeg2ktopam input | rawinfo' rawinfo input
	# fitstoraw unpacks gzip by itself
	fails 1 'fitstoraw: (stdin): this is xz; unpack it with xz -dc' bash -c 'printf "\xfd7zXZ\0" | fitstoraw'
	fails 1 'fitstoraw: (stdin): this is bzip2; unpack it with bzip2 -dc' bash -c 'printf BZh91AY | fitstoraw'
}

@test "converters name the program that reads a file of another format" {
	{ printf 'II*\0' && head -c 6000 /dev/zero; } >a.tif
	{ printf 'MM\0+' && head -c 6000 /dev/zero; } >big.tif
	{ printf 'SIMPLE  =                    T' && head -c 6000 /dev/zero; } >a.fits
	printf '\x89PNG\r\n\x1a\n' >a.png
	pgm 1 1 255 7 >a.pgm
	while IFS='|' read file what programs; do
		for program in $programs; do
			run -1 "$program" "$file"
			[ "$output" = "$program: $file: this is ${what/PROGRAM/$program}" ]
		done
	done <<-'END'
		a.tif|TIFF; convert it with tifftoraw|fitstoraw segytoraw sutoraw texttoraw
		a.tif|TIFF; type: tifftoraw a.tif \| PROGRAM|pgmtoraw rawtofits rawtotiff
		big.tif|TIFF; type: tifftoraw big.tif \| PROGRAM|pgmtoraw rawtofits rawtotiff
		a.fits|FITS; convert it with fitstoraw|tifftoraw segytoraw sutoraw texttoraw
		a.png|PNG; convert it with pngtoraw|fitstoraw tifftoraw segytoraw sutoraw texttoraw
		a.pgm|PNM; it needs no conversion|fitstoraw tifftoraw segytoraw sutoraw texttoraw
	END
	# a file of their own format that is damaged is not sent to themselves
	for own in 'tifftoraw a.tif' 'fitstoraw a.fits'; do
		run -1 $own
		[[ $output != *'convert it'* ]]
	done
}

@test "one pixel, one row, one column and a constant picture are pictures" {
	for picture in 'constant 1 1 .03' 'noise 200 1' 'noise 1 200' 'constant 16 12 .5'; do
		gen $picture >input
		each exits 0 ''
	done
}

# NaN may be refused, or floats, but with a word, and must not upset anything.
survives_nan() {
	local got=0
	"$@" <input >out 2>err || got=$?
	[ $got -eq 0 ] || { [ $got -eq 1 ] && grep -qi -e nan -e 'not finite' -e 'of type float' err; } || complain "$*: exit $got: $(head -c 300 err)"
}

@test "NaN is processed or refused by name" {
	gen --type=float -- values 3x3 1 2 3 4 nan 6 7 8 9 >input
	each survives_nan
}

@test "a full disk and a closed standard output are failures" {
	each exits 1 'No space left' bash -c '"$0" "$@" >/dev/full'
	each exits 1 'Bad file descriptor' bash -c '"$0" "$@" >&-'
}

# A pipe whose reader is gone. env sees to it that the signal was not ignored by whoever runs the tests.
to_nobody() {
	mkfifo pipe
	exec 5<>pipe 6>pipe 5<&-
	env --default-signal=PIPE "$@" <input >&6
	local got=$?
	exec 6>&-
	rm pipe
	return $got
}

@test "a pipe without a reader ends the program without a word" {
	each exits 141 '' to_nobody
}

to_terminal() {
	local got=0
	script -qec "$(printf '%q ' "${@:2}") <input" typescript >/dev/null 2>&1 </dev/null || got=$?
	[ $got -eq "$1" ] || complain "${*:2}: exit $got on a terminal, not $1"
}

@test "binary data is not written to a terminal" {
	script -qec true /dev/null >/dev/null 2>&1 </dev/null || skip "no terminal can be had"
	unless=text each to_terminal 2
	grep -q terminal typescript
}

threads_agree() {
	"$1" --help | grep -q -e '^  -t, --threads' || return 0
	"$@" -t 1 <input >one && "$@" -t 7 <input >seven && cmp one seven || complain "$*: -t 7 differs from -t 1"
}

@test "-t 7 writes the same bytes as -t 1" {
	gen smooth 211 97 3 >input
	each threads_agree
}

processes_both() {
	"$@" <input >one && cat input input | "$@" >both && cat one one | cmp - both || complain "$*: items in a row"
}

@test "items in a row are processed one by one" {
	unless=counted each processes_both
}

help_is_clean() {
	"$1" --help >out 2>err || complain "$1 --help: exit $?"
	grep -q "^usage: $1" out && [ ! -s err ] || complain "$1 --help prints no usage to stdout"
	awk '{ gsub(/\t/, "        ") } length > 80' out | grep . >wide && complain "$1 --help is wider than 80 columns: $(cat wide)"
	"$1" --version >out 2>err || complain "$1 --version: exit $?"
	grep -q "^$1 (weir)" out && [ ! -s err ] || complain "$1 --version does not name itself"
}

@test "--help and --version are printed to stdout, and an unknown option is named" {
	each help_is_clean
	each exits 2 '--frobnicate' bash -c '"$0" "$@" --frobnicate'
}
