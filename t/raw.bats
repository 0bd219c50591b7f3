load lib

# What weir-raw(5) offers to copy is the text between `.\" begin NAME` and `.\" end`.
from_page() {
	sed -n "/^\.\\\\\" begin $1\$/,/^\.\\\\\" end\$/p" "$root/man/weir-raw.5" | sed '/^\.\\"/d; s/\\e/\\/g' >"$1"
	[ -s "$1" ]
}

@test "the filter in weir-raw(5) compiles without a warning and filters" {
	from_page gain.c
	"${CC:-cc}" -std=c99 -Wall -Wextra -Wpedantic -Werror -o gain gain.c
	gen -- values 3x1 1 -2 0.5 >a.nrrd
	cat a.nrrd a.nrrd | ./gain 3 >b.nrrd
	lines <(rawinfo b.nrrd | grep -e ^min -e ^max -e ^history) 'history:=gain/min: -6/max: 3/history:=gain/min: -6/max: 3'
	./gain 3 <a.nrrd >c.nrrd
	same <(samples c.nrrd) '3 -6 1.5'
	run -1 ./gain 3 < <(head -c 130 a.nrrd)
}

@test "the Python reader in weir-raw(5) reads what the programs write" {
	for python in $(type -ap python3) ''; do
		[ -n "$python" ] || break
		! "$python" -c 'import numpy' 2>/dev/null || break
	done
	[ -n "$python" ] || skip "NumPy is not installed"
	from_page item.py
	gen --type=ushort values 3x2 1 2 3 4 5 6 | pgmtoraw >a.nrrd
	gen values 2x1 7 8 >>a.nrrd
	echo 'f = open("a.nrrd", "rb"); print(item(f).tolist(), item(f).tolist())' >>item.py
	same <($python item.py) '[[1, 2, 3], [4, 5, 6]] [[7.0, 8.0]]'
	sed -i '$s/;.*/\nwhile f.peek(): x = item(f); print(x.dtype, x.sum())/' item.py
	for type in char uchar short ushort int uint int64 uint64 float double; do
		gen --type=$type values 2x1 1 2 | pgmtoraw
	done >a.nrrd
	same <($python item.py | paste -sd ' ') 'int8 3 uint8 3 int16 3 uint16 3 int32 3 uint32 3 int64 3 uint64 3 float32 3.0 float64 3.0'
}

@test "NRRD that is no raw item is refused, and the program that converts it is named" {
	local field advice='convert it with unu save -f nrrd -e raw'
	for field in 'encoding: gzip' 'encoding: raw\nbyte skip: 4' 'encoding: raw\ndata file: b.raw'; do
		fails 1 "$advice" pgmtoraw <(printf "NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\n$field\n\nabc")
	done
	# A detached header needs no empty line at its end.
	for field in 'data file: a.raw' 'datafile: ./a.raw'; do
		printf 'NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: raw\n%s\n' "$field" >a.nhdr
		fails 1 "pgmtoraw: a.nhdr: this is a detached header, without samples; $advice" pgmtoraw a.nhdr
	done
	fails 1 'the file ends inside the header' pgmtoraw <(printf 'NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\n')
}

@test "a header with CR LF is read, also by rawjoin --missing; a carriage return in a value is kept" {
	item uchar 2 'part:=0/2 0123456789abcdef' 'place:=0/1 0/1 0:0/4' -- 1 2 >unix
	sed '1,/^$/s/$/\r/' unix >dos
	cmp <(rawinfo unix | sed 1d) <(rawinfo dos | sed 1d)
	same <(rawjoin --missing dos) 1
	item uchar 3 $'note:=one\rtwo\r' -- 1 2 3 | rawaxes --flip=0 | grep -aFx $'note:=one\rtwo\r'
}

@test "of two lines of a key the last one counts, and is the one that changes" {
	item short '3 1' nodata:=2 nodata:=7 -- 0 2 7 >a
	lines <(rawdist a | rawinfo | grep nodata) 'nodata:=2/nodata:=nan'
	item float '2 1' 'tile:=0 0 9 9' 'tile:=4 0 6 1' -- 1 2 >b
	printf 'P2 1 1 1 1\n' | wconv -k - b | rawinfo | grep -x 'tile:=4 0 6 1'
}

@test "what a header may not be is refused, and said" {
	local head='NRRD0005\ntype: float\ndimension: 2\nsizes: 3 4\nendian: little\nencoding: raw'
	local two='NRRD0005\ntype: uchar\ndimension: 2'
	while IFS='|' read -r says text; do
		printf "$text\n\n" >bad
		fails 1 "$says" rawinfo bad
	done <<-END
		not a raw header|NRRD0006
		'type' is missing|NRRD0005\ndimension: 1\nsizes: 1\nencoding: raw
		before dimension|NRRD0005\ntype: uchar\nsizes: 1
		block|NRRD0005\ntype: block
		1..16|NRRD0005\ntype: uchar\ndimension: 17
		1..16|NRRD0005\ntype: uchar\ndimension: 0
		sizes|$two\nsizes: 3
		sizes|$two\nsizes: 3 0
		sizes|$two\nsizes: 3 -1
		sizes|$two\nsizes: 3 4 5
		sizes|$two\nsizes: 3 4x
		overflows|$two\nsizes: 4294967296 4294967296
		endian|NRRD0005\ntype: float\ndimension: 1\nsizes: 3\nencoding: raw
		twice|$head\nsizes: 3 4
		detached header|$head\ndata file: x.raw
		skip|$head\nbyte skip: 4
		rubbish|$head\nrubbish
		nonsense|$head\nnonsense: 1
		kinds|$head\nkinds: domain
		spacings|$head\nspacings: 1 x
		centers|$head\ncenters: node middle
		labels|$head\nlabels: "x
	END
}
