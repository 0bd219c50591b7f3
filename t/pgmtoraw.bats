load lib

# round_trip FILE: the picture comes back byte for byte.
round_trip() {
	pgmtoraw "$1" | rawtopnm >back
	cmp "$1" back
}

@test "pictures come back exactly: of every maxval, of planes, with alpha" {
	perl -e 'print "P5\n2 2\n$_\n", pack $_ < 256 ? "C*" : "n*", 0, 1, $_ / 2, $_ for 1 .. 65535' >all.pgm
	round_trip all.pgm
	printf 'P6\n2 1\n255\nRGBrgb' >a.ppm
	round_trip a.ppm
	pgmtoraw a.ppm | grep -a '^kinds: RGB-color domain domain$'
	printf 'P7\nWIDTH 1\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefgh' >a.pam
	round_trip a.pam
}

@test "plain and packed pictures become the same samples" {
	pgm 3 2 1 0 1 1 1 0 0 | pgmtoraw >want
	printf 'P2 3 2 1 0 1 1 1 0 0\n' | pgmtoraw | cmp - want
	# PBM has 1 for black; as a sample, 1 is white.
	printf 'P1\n3 2\n100\n011\n' | pgmtoraw | cmp - want
	printf 'P4\n3 2\n\x80\x60' | pgmtoraw | cmp - want
	printf 'P6\n2 1\n255\n\1\2\3\4\5\6' | pgmtoraw >want
	printf 'P3 2 1 255 1 2 3 4 5 6\n' | pgmtoraw | cmp - want
}

@test "pictures in a row become items in a row, from files and from stdin" {
	pgm 1 1 255 65 >a.pgm
	pgm 2 1 255 66 67 >b.pgm
	pgmtoraw a.pgm b.pgm >both
	cat a.pgm b.pgm | pgmtoraw | cmp - both
	pgmtoraw a.pgm - <b.pgm | cmp - both
	lines <(rawinfo both | grep ^sizes) 'sizes: 1 1/sizes: 2 1'
}

@test "raw items pass through as they are, and samples of the other byte order come out in this machine's" {
	gen --type=double -- values 3x2 1 -2 3.5 nan inf 6 >a.nrrd
	pgmtoraw a.nrrd | cmp - a.nrrd
	pgm 2 1 65535 258 772 | shows '258 772' pgmtoraw
	printf 'NRRD0004\ntype: ushort\ndimension: 1\nsizes: 2\nendian: big\nencoding: raw\n\n\1\2\3\4' |
		shows '258 772' pgmtoraw
}

@test "keys, labels, units and positions of a raw item are kept" {
	printf 'NRRD0005\ntype: uchar\ndimension: 2\nsizes: 2 1\nspacings: 0.004 nan\naxis mins: -100 nan\nlabels: "t" "say \\"x\\""\nunits: "s" ""\nencoding: raw\nshot:=17\nnote:=a:=b\n\nab' |
		pgmtoraw | says 'spacings: 0.0040000000000000001 nan' 'axis mins: -100 nan' 'labels: "t" "say \"x\""' 'units: "s" ""' shot:=17 note:=a:=b
}

@test "a PFM picture is turned right side up, in both byte orders" {
	printf 'Pf\n1 2\n-1.0\n\0\0\200\77\0\0\0\100' | shows '2/1' pgmtoraw # 1 below 2
	printf 'Pf\n2 1\n1.0\n\77\200\0\0\100\0\0\0' | shows '1 2' pgmtoraw
}

# dict TEXT: the header of a version 1 file with this dictionary.
dict() {
	printf '\x93NUMPY\1\0\166\0%-117s\n' "$1"
}

# npy DESCR ORDER SHAPE: such a header. DESCR is a type, or a list of fields.
npy() {
	local descr="'$1'"
	[[ $1 != [[]* ]] || descr=$1
	dict "{'descr': $descr, 'fortran_order': $2, 'shape': $3, }"
}

@test "a NumPy array becomes an item with its last index fastest, in either order of Fortran and C, and of bytes" {
	{ npy '|u1' False '(2, 3)' && printf 'abcdef'; } | pgmtoraw >a.nrrd
	lines <(samples a.nrrd) '97 98 99/100 101 102'
	{ npy '|u1' True '(2, 3)' && printf 'adbecf'; } | pgmtoraw | cmp - a.nrrd
	{ npy '>i2' False '(2,)' && printf '\377\376\1\2'; } | shows '-2 258' pgmtoraw
}

@test "a NumPy array of halves is read as floats" {
	# 1, -2, 65504, 2^-24, infinity, -0
	{ npy '<f2' False '(6,)' && printf '\x00\x3c\x00\xc0\xff\x7b\x01\x00\x00\x7c\x00\x80'; } >h.npy
	rawinfo h.npy 2>/dev/null | grep -x 'type: float'
	rawtotext h.npy | tr '\n' ' ' | grep -Fx '1 -2 65504 5.9604645e-08 inf -0 '
	{ npy '>f2' False '(2,)' && printf '\x3c\x00\xc0\x00'; } | rawtotext | tr '\n' ' ' | grep -Fx '1 -2 '
	{ npy '<f2' True '(2,2)' && printf '\x00\x3c\x00\x40\x00\x42\x00\x44'; } | rawtotext | tr -s ' \n' ' ' | grep -F '1 3 2 4'
}

@test "the dictionary of a NumPy array is understood, in any order and without blanks, or refused" {
	{ dict "{'shape':(5,),'fortran_order':False,'descr':'|u1'}" && printf abcde; } | shows '97 98 99 100 101' pgmtoraw
	{ npy '<i8' False '()' && printf '\7\0\0\0\0\0\0\0'; } | shows 7 pgmtoraw
	{ npy '<c16' True '(2, 3)' && head -c 96 /dev/zero; } | pgmtoraw | grep -axc -e 'type: double' -e 'sizes: 2 3 2' | grep -x 2
	fails 1 'the dtype is malformed' pgmtoraw <(dict '' && printf x)
	fails 1 'the shape is malformed' pgmtoraw <(dict "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4" && printf x)
	while IFS='|' read -r type order shape says; do
		fails 1 "$says" pgmtoraw <(npy "$type" "$order" "$shape" && printf x)
	done <<-'END'
		<f3|False|(3,)|dtype '<f3' is not supported
		<f4|False|(3, -4)|the shape is malformed
		<f4|False|(0, 4)|an axis of the shape is 0 or too long
		<f4|None|(3, 4)|fortran_order is neither True nor False
		<f8|False|(4294967296, 4294967296)|the product of the shape overflows
	END
}

@test "what is not read of NumPy is said whole" {
	fails 1 "dtype '<U12' is not supported" rawinfo <(npy '<U12' False '(1,)' && printf x)
	fails 1 "the dtype is a record of several fields" rawinfo <(npy "[('x', '<f4')]" False '(1,)' && printf x)
	fails 1 'unzip' rawinfo <(printf 'PK\x03\x04........')
}

@test "a NumPy array of three or four bytes or floats a pixel is a colour picture, small kernels are not" {
	{ npy '|u1' False '(1, 2, 3)' && printf 'abcdef'; } >rgb.npy
	printf 'P6 2 1 255\nabcdef' | emst --to=text >want
	emst --to=text rgb.npy | diff - want
	pgmtoraw rgb.npy | grep -ax 'kinds: RGB-color domain domain'
	pgmtoraw rgb.npy | rawtonpy | pgmtoraw | grep -ax 'kinds: RGB-color domain domain'
	{ npy '<u2' True '(2, 1, 4)' && printf '%016d' 0; } | pgmtoraw | grep -ax 'kinds: RGBA-color domain domain'
	{ npy '<f4' False '(1, 5, 3)' && head -c 60 /dev/zero; } | pgmtoraw | grep -ax 'kinds: RGB-color domain domain'
	{ npy '<f8' True '(5, 7, 4)' && head -c 1120 /dev/zero; } | pgmtoraw | grep -ax 'kinds: RGBA-color domain domain'
	{ npy '<f2' False '(2, 5, 3)' && head -c 60 /dev/zero; } | pgmtoraw | rawtonpy | pgmtoraw | grep -ax 'kinds: RGB-color domain domain'
	{ npy '<f4' False '(9, 3, 3)' && head -c 324 /dev/zero; } | pgmtoraw | grep -ax 'kinds: domain domain domain'
	{ npy '<i4' False '(1, 5, 3)' && head -c 60 /dev/zero; } | pgmtoraw | grep -ax 'kinds: domain domain domain'
}

@test "colours with alpha are the same from PAM, NumPy and TIFF" {
	printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefgh' >a.pam
	{ npy '|u1' False '(1, 2, 4)' && printf 'abcdefgh'; } >a.npy
	rawtotiff a.npy >a.tif
	for read in 'pgmtoraw a.pam' 'pgmtoraw a.npy' 'tifftoraw a.tif'; do
		$read | grep -ax 'kinds: RGBA-color domain domain'
		$read | rawtopnm | cmp - a.pam
		$read | rawtotiff | cmp - a.tif
	done
	rawtonpy a.pam | cmp - <(rawtonpy a.npy)
	# Without its alpha it is a picture of three planes.
	rawaxes --crop=0:0:3 a.pam | rawtopnm | cmp - <(printf 'P6\n2 1\n255\nabcefg')
	sed s/RGB_ALPHA/CMYK/ a.pam | pgmtoraw | grep -ax 'kinds: list domain domain'
}

@test "a sample above maxval is refused, and an item of more than --max-bytes before it is read; stdin is read once" {
	pgm 2 1 100 100 101 >a.pgm
	fails 1 'pgmtoraw: a.pgm: a sample is 101, which exceeds the maxval 100' pgmtoraw -o b a.pgm
	pgm 2 2 255 1 2 3 4 >a.pgm
	fails 1 "--max-bytes" pgmtoraw --max-bytes=3 a.pgm
	pgmtoraw --max-bytes=4 a.pgm >b
	fails 2 stdin pgmtoraw -o b - - < <(pgm 1 1 255 7)
}

@test "plain samples: the last one may end the file, and only blanks and comments stand between" {
	same <(printf 'P2 2 1 255 7 8' | rawtotext) '7 8'
	same <(printf 'P2\n# a\n2 1\n255\n7#b\n8 # end' | rawtotext) '7 8'
	same <(printf 'P3 1 1 65535 1\t22\r\n65535' | rawtotext) '1 22 65535'
	lines <(printf 'P2 1 1 9 7 P2 1 1 9 8' | rawtotext | grep .) '7/8'
	while IFS='|' read -r samples what; do
		fails 1 "$what" bash -c "printf 'P2 2 1 255 $samples' | rawtotext -o out"
	done <<-'END'
		7|the file ends before the last sample
		7 256|a sample exceeds the maxval 255
		7 99999999999999999999|a sample exceeds the maxval 255
		7 1e1|a sample is no number
		7 -1|a sample is no number
		7 8x|a sample is no number
	END
}
