load lib

# pngtoraw and rawtopng. libpng and netpbm judge.

prepare() {
	command -v pngtoraw >/dev/null || skip 'no libpng'
}

# pam DEPTH MAXVAL TUPLTYPE BYTE...: one row.
pam() {
	printf 'P7\nWIDTH %d\nHEIGHT 1\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n' $((($# - 3) / $1)) "$1" "$2" "$3"
	printf "$(printf '\\x%02x' "${@:4}")"
}

# header FILE: bits a sample and the type of colour: 0 gray, 2 RGB, 3 palette, 4 gray with alpha, 6 RGBA.
header() {
	tail -c +25 "$1" | head -c 2 | od -An -tu1 | xargs
}

@test "pictures of 8 and 16 bits, gray and colour, with alpha and without, come back" {
	pam 2 255 GRAYSCALE_ALPHA 9 255 8 7 >2.pam
	pam 4 255 RGB_ALPHA 1 2 3 255 4 5 6 7 >4.pam
	gen noise 30 20 >1.pam
	gen --type=ushort --pnm noise 30 20 >wide.pam
	rawstack --planes --pnm 1.pam 1.pam <(gen noise -s 2 30 20) >3.pam
	rawmath --type=ushort --pnm 'a * 257' 3.pam >wide3.pam
	while read -r file type; do
		rawtopng --direct --quiet $file.pam >$file.png
		same <(header $file.png) "$type"
		cmp <(rawtotext $file.pam) <(pngtoraw $file.png | rawtotext)
		cmp <(rawinfo $file.pam | grep -E '^(type|sizes|kinds)') <(pngtoraw $file.png | rawinfo | grep -E '^(type|sizes|kinds)')
	done <<-'END'
		1 8 0
		2 8 4
		3 8 2
		4 8 6
		wide 16 0
		wide3 16 2
	END
	cat 1.png 4.png | pngtoraw | rawinfo | grep -c sizes | grep -x 2
	pngtopam 3.png | cmp - 3.pam
}

@test "few colours get a palette of as few bits as they need, those with alpha first" {
	for n in 2:1 3:2 4:2 5:4 16:4 17:8 256:8; do
		for ((i = 0; i < ${n%:*}; i++)); do echo "$i 0 $((i % 7))"; done >colours
		texttoraw --type=uchar --sizes=3,${n%:*},1 colours | LC_ALL=C sed 's/^kinds: domain/kinds: RGB-color/' >x.nrrd
		rawtopng x.nrrd >x.png
		same <(header x.png) "${n#*:} 3"
		cmp <(pngtoraw x.png | rawtotext) <(rawtotext x.nrrd)
	done
	rawstack --planes --pnm <(printf 'P2 257 1 255\n' && for ((i = 0; i < 257; i++)); do echo $((i / 2)); done) \
		<(printf 'P2 257 1 255\n' && for ((i = 0; i < 257; i++)); do echo $((i % 2)); done) <(printf 'P2 257 1 255\n' && for ((i = 0; i < 257; i++)); do echo 0; done) >many.ppm
	rawtopng many.ppm >many.png
	same <(header many.png) '8 2'
	pam 4 255 RGB_ALPHA 1 2 3 255 4 5 6 7 1 2 3 255 9 9 9 0 >a.pam
	rawtopng a.pam >a.png
	same <(header a.png) '2 3'
	cmp <(pngtoraw a.png | rawtotext) <(rawtotext a.pam)
	grep -ac tRNS a.png
}

@test "levels below 8 bits are kept, and another maxval is spread, which is said" {
	for m in 1:1 3:2 15:4; do
		printf "P2 3 1 ${m%:*} 0 1 ${m%:*}\n" >x.pgm
		rawtopng x.pgm >x.png
		same <(header x.png) "${m#*:} 0"
		pngtoraw x.png | rawtopnm | cmp - <(rawtopnm x.pgm)
	done
	printf 'P2 3 1 9 1 0 9\n' >x.pgm
	remarks 'rawtopng: x.pgm: item 1: levels up to 9 become levels up to 255' rawtopng x.pgm >x.png
	same <(pngtoraw x.png | rawtotext) '28 0 255'
	same <(printf 'P2 2 1 1000 1000 500\n' | rawtopng --quiet | pngtoraw | rawtotext) '65535 32768'
}

@test "what is no such picture, or no PNG, is refused" {
	fails 1 'samples of type float; type: rawtopnm | rawtopng' rawtopng <(gen --type=float noise 3 3)
	gen noise 4 4 >a.pgm
	fails 1 'not one picture of gray or RGB' rawtopng <(rawstack a.pgm a.pgm)
	fails 1 'not one picture of gray or RGB' rawtopng <(rawstack --planes --raw a.pgm a.pgm)
	rawtopng a.pgm >a.png
	for n in 8 9 20 33 45 $(($(wc -c <a.png) - 1)); do fails 1 'the file is cut off' pngtoraw <(head -c $n a.png); done
	fails 1 'this is no PNG' pngtoraw <(echo text)
	fails 1 'this is PNM; it needs no conversion' pngtoraw a.pgm
	fails 1 'empty input' pngtoraw /dev/null
	fails 1 'CRC error' pngtoraw <(head -c 30 a.png && printf x && tail -c +32 a.png)
	fails 1 'exceeds the limit of 9; raise it with --max-bytes' pngtoraw --max-bytes=9 a.png
	fails 1 'No space left' bash -c 'pngtoraw a.png >/dev/full'
	fails 1 'No space left' bash -c 'rawtopng a.pgm >/dev/full'
	# A picture of 2^31 - 1 by 2^31 - 1 in 46 bytes, which are refused before a row has memory.
	sanitized || ulimit -v 4000000
	fails 1 'the size of the payload overflows' pngtoraw <(printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x10\6\0\0\0\x44\x59\xd7\x25\0\0\0\1IDATx')
}
