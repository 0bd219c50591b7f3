load lib

# fitstoraw and rawtofits: images of FITS files in and out.

# card TEXT: 80 characters.
card() {
	printf '%-80s' "$1"
}

# fits BITPIX AXES [CARD ...] -- FORMAT [SAMPLE ...]: a file of one image; FORMAT is that of perl's pack.
fits() {
	local bitpix=$1 axes=$2 cards=() i=0 n
	shift 2
	while [ "$1" != -- ]; do
		cards+=("$1")
		shift
	done
	{
		card "SIMPLE  =                    T / a standard file"
		card "BITPIX  = $(printf %20d "$bitpix")"
		card "NAXIS   = $(printf %20d "$(wc -w <<<"$axes")")"
		for n in $axes; do
			i=$((i + 1))
			card "$(printf 'NAXIS%-3d= %20d' $i "$n")"
		done
		for n in "${cards[@]}" END; do
			card "$n"
		done
	} | perl -0777 -pe '$_ .= " " x (-length() % 2880)'
	perl -e 'shift; $_ = pack(shift() . "*", @ARGV); print $_, "\0" x (-length() % 2880)' -- "$@"
}

# extension: an image as an extension.
extension() {
	perl -0777 -pe 's/^SIMPLE  =.{71}/sprintf "%-80s", "XTENSION= \x27IMAGE   \x27"/e'
}

need_astropy() {
	/usr/bin/python3 -c 'import astropy' 2>/dev/null || skip "python3-astropy is not installed"
}

@test "samples of every BITPIX come as they are, the first row first" {
	fits 8 '3 2' -- C 1 2 3 4 5 255 | fitstoraw >a
	same <(rawinfo a | grep -e ^type -e ^sizes) 'type: uchar
sizes: 3 2'
	same <(rawtotext a) '1 2 3
4 5 255'
	same <(fits 16 '2 1' -- 's>' -32768 32767 | fitstoraw | rawtotext) '-32768 32767'
	same <(fits 32 '2' -- 'l>' -2147483648 2147483647 | fitstoraw | rawtotext) '-2147483648 2147483647'
	fits 64 '2' -- 'q>' -9007199254740993 9223372036854775807 | fitstoraw >a
	same <(samples a) '-9007199254740993 9223372036854775807'
	same <(fits -32 '3' -- 'f>' 1.5 -2 nan | fitstoraw | rawtotext) '1.5 -2 nan'
	same <(fits -64 '1' -- 'd>' 0.1 | fitstoraw | rawtotext) '0.1'
}

@test "BZERO makes unsigned and signed integers, exactly" {
	fits 16 2 'BZERO   =                32768' -- 's>' -32768 32767 | fitstoraw >a
	grep -ax 'type: ushort' a
	same <(rawtotext a) '0 65535'
	fits 8 2 'BZERO   =                 -128' -- C 0 255 | fitstoraw >a
	grep -ax 'type: signed char' a
	same <(rawtotext a) '-128 127'
	fits 32 2 'BZERO   =           2147483648' -- 'l>' -2147483648 2147483647 | fitstoraw >a
	grep -ax 'type: uint' a
	same <(rawtotext a) '0 4294967295'
}

@test "scaled integers become floats, and doubles where floats would lose digits" {
	fits 16 3 'BSCALE  =                 0.25' 'BZERO   =                  100' -- 's>' -4 0 3 | fitstoraw >a
	grep -ax 'type: float' a
	same <(rawtotext a) '99 100 100.75'
	fits 16 2 'BSCALE  =                0.001' 'BZERO   =              2450000' -- 's>' 0 1 | fitstoraw >a
	grep -ax 'type: double' a
	same <(rawtotext a) '2450000 2450000.001'
	fits 32 2 'BSCALE  =                  0.5' -- 'l>' 2147483647 1 | fitstoraw >a
	grep -ax 'type: double' a
	same <(rawtotext a) '1073741823.5 0.5'
}

@test "BLANK becomes NaN" {
	fits 16 3 'BLANK   =                   -1' -- 's>' -1 0 7 | fitstoraw >a
	same <(rawtotext a) 'nan 0 7'
	run -1 grep -a BLANK a
	fits 64 2 'BLANK   =                    2' -- 'q>' 2 5 | fitstoraw >a
	grep -ax 'type: double' a
	same <(rawtotext a) 'nan 5'
}

@test "an untouched image comes back byte for byte, whatever its cards" {
	fits -32 '3 2' 'EXTEND  =                    T' 'OBJECT  = '"'M 31    '"'           / a name' \
		"QUOTE   = 'it''s / no comment' / a comment" 'EXPTIME =                 30.0 / [s]' \
		'FREE    = 1.5e0 / free format' 'LOGICAL =                    F' 'EMPTY   =' \
		'COMMENT   two blanks before' 'COMMENT' 'HISTORY once' '        a card without a name' \
		'HIERARCH ESO DET ID = 7 / long' 'NOVALUE a card without a value' "LONG    = 'part one &'" "CONTINUE  'part two'" \
		'CPLX    = (1.0, 2.0)' -- 'f>' 1 2 3 4 5 nan >a.fits
	fitstoraw a.fits | rawtofits | cmp a.fits
	fitstoraw <a.fits | rawtofits -o b.fits
	cmp a.fits b.fits
}

@test "BZERO, BSCALE and EXTEND come back where they stood" {
	fits 16 '2' 'OBJECT  = '"'M 31    '" 'BSCALE  =                    1' 'EXTEND  =                    T / late' \
		'BZERO   =                32768 / unsigned' -- 's>' -1 5 >a.fits
	fitstoraw a.fits | rawtofits | cmp a.fits
	fits 8 '1' 'BZERO   =                 -128' 'EXPTIME =                  2.0' -- C 7 >a.fits
	fitstoraw a.fits | rawtofits | cmp a.fits
}

@test "a file of several units comes back, and its tables are named" {
	fits 8 '' 'EXTEND  =                    T' 'ORIGIN  = '"'here    '" -- C >a.fits
	fits -32 '2' "EXTNAME = 'SCI     '" -- 'f>' 1 2 | extension >>a.fits
	fits 16 '2' "EXTNAME = 'DQ      '" -- 's>' 7 8 | extension >>a.fits
	fitstoraw a.fits >items
	same <(rawtotext items) '1 2

7 8'
	rawinfo items | grep -x "fits0.ORIGIN:='here    '"
	rawtofits items | fitstoraw --hdu=2 | rawtotext | grep -x '7 8'
	same <(fitstoraw --hdu=sci a.fits | rawtotext) '1 2'
	same <(fitstoraw --hdu=DQ,1 a.fits | rawtotext) '1 2

7 8'
	fails 1 'HDU 0 has no pixels' fitstoraw --hdu=0 a.fits
	fails 1 '--hdu=NONE,1: 1 of these 2 are in the file, whose HDUs are 0 to ' fitstoraw --hdu=NONE,1 -o out a.fits
	[ ! -e out ]
}

@test "the coordinates of a part are those of the whole" {
	fits 8 '4 3' 'CRPIX1  =                  2.5 / where' 'CRPIX2  =                  1.0' 'CDELT1  =                 -0.5' \
		'LTV1    =                  0.0' -- C {1..12} >a.fits
	fitstoraw a.fits | rawtile --size=2x2 --only=3 | rawtofits | fitstoraw | rawinfo >a
	grep -x 'fits.CRPIX1:=0.5 / where' a
	grep -x 'fits.CRPIX2:=-1.0' a
	grep -x 'fits.CDELT1:=-0.5' a
	grep -x 'fits.LTV1:=-2.0' a
}

@test "a part of an image without coordinates says where it lies by LTV and LTM" {
	fits 8 '4 3' -- C {1..12} >a.fits
	fitstoraw a.fits | rawaxes --crop=0:1:3 | rawtofits >b.fits
	fitstoraw b.fits | rawinfo >a
	grep -x 'fits.LTV1:=-1.0' a
	run -1 grep -E 'LTV2|LTM|CRPIX' a
	fitstoraw b.fits | rawaxes --flip=0 | rawtofits | fitstoraw | rawinfo >a
	grep -x 'fits.LTV1:=4.0' a
	grep -x 'fits.LTM1_1:=-1.0' a
	fitstoraw a.fits | rawtofits | cmp a.fits
}

@test "tables of distortions and plate solutions are named when the samples leave them" {
	fits 8 '4 3' 'CRPIX1  =                  1.0' "CPDIS1  = 'LOOKUP  '" -- C {1..12} >a.fits
	fitstoraw a.fits | rawtofits 2>err | cmp a.fits
	[ ! -s err ]
	fitstoraw a.fits | rawaxes --crop=1:1:3 | rawtofits -o b.fits 2>err
	same err 'rawtofits: (stdin): item 1: CPDIS1 and its distortions do not follow the samples; positions by them are wrong'
	fits 8 '4 3' 'CNPIX1  =                    7' 'AMDX1   =                  1.0' -- C {1..12} >a.fits
	fitstoraw a.fits | rawaxes --crop=0:1:3 | rawtofits -o b.fits 2>err
	[ ! -s err ]
	fitstoraw a.fits | rawaxes --flip=1 | rawtofits -o b.fits 2>err
	grep AMDX1 err
}

@test "both matrices of a file that has two follow a flip, and the plate of the sky survey a cut" {
	fits 8 '4 3' 'CRPIX1  =                  1.0' 'CD1_1   =                  0.5' 'CD1_2   =                0.125' \
		'PC1_1   =                  0.5' 'PC1_2   =                0.125' 'CNPIX1  =                 7000' -- C {1..12} >a.fits
	fitstoraw a.fits | rawaxes --flip=0 | rawtofits | fitstoraw | rawinfo >a
	for line in CRPIX1:=4.0 CD1_1:=-0.5 CD1_2:=0.125 PC1_1:=-0.5 PC1_2:=0.125; do
		grep -x "fits.$line" a
	done
	fitstoraw a.fits | rawaxes --crop=0:1:3 | rawtofits | fitstoraw | rawinfo | grep -E '^fits.CNPIX1:=7001(.0)?$'
}

@test "positions of an item of another format become a coordinate system" {
	item float '2 2' 'centers: node node' 'spacings: .5 2' 'axis mins: 10 -1' 'labels: "x" "y"' 'units: "um" "um"' \
		'kept:=yes' 'history:=maker' -- 1 2 3 4 | rawtofits | fitstoraw | rawinfo >a
	for line in CRPIX1:=1.0 CRVAL1:=10.0 CDELT1:=0.5 CDELT2:=2.0 CRVAL2:=-1.0 "CUNIT1:='um      '" "CTYPE2:='y       '" \
		HISTORY:=maker; do
		grep -x "fits.$line" a
	done
	grep -x kept:=yes a
}

@test "keys that are no cards come back, long ones too" {
	long=$(seq -s' ' 100 199)
	item float '2 2' 'tile:=4 6 8 8' "background:=$long" 'odd:=a&' 'blank:=' 'kept:=1' 'kept:=2' -- 1 2 3 4 >a
	rawtofits a >a.fits
	fitstoraw a.fits | rawinfo >b
	for line in 'tile:=4 6 8 8' "background:=$long" 'odd:=a&' blank:= kept:=1 kept:=2; do
		grep -x "$line" b
	done
	fitstoraw a.fits | rawtofits | cmp - a.fits
	# Comments of other programs stay comments.
	fits 8 '2 1' 'COMMENT   a word' 'COMMENT see a:=b' 'COMMENT fits.GAIN:=2' 'COMMENT cut:=off&' -- C 1 2 >c.fits
	fitstoraw c.fits | rawinfo >c
	for line in 'fits.COMMENT:=  a word' 'fits.COMMENT:=see a:=b' 'fits.COMMENT:=fits.GAIN:=2'; do
		grep -x "$line" c
	done
	grep 'cut:=off' c
}

@test "the parts of a picture keep their place through FITS" {
	gen noise 20 12 | pgmtoraw >a
	rawtile --grid=2x2 --margin=3 a | rawtofits | fitstoraw | rawjoin | rawtotext | cmp - <(rawtotext a)
}

@test "sections of a CCD follow a cut, a flip and a transposition" {
	fits 8 '6 2' "DATASEC = '[3:6,1:2]'" "BIASSEC = '[1:2,1:2]'          / overscan" "TRIMSEC1= '[ 4: 5, :]'" "CCDSEC  = '[3:6,1:2]'" -- \
		C {1..12} >a.fits
	fitstoraw a.fits | rawaxes --crop=0:3:5 2>/dev/null | rawtofits 2>said | fitstoraw | rawinfo >a
	same said 'rawtofits: (stdin): item 1: sections that cannot follow the samples are left out: BIASSEC'
	grep -x "fits.DATASEC:='\[1:2,1:2\]'" a
	grep -x "fits.TRIMSEC1:='\[1:2, :\]'" a
	grep -x "fits.CCDSEC:='\[4:5,1:2\]'" a
	run -1 grep BIASSEC a
	fitstoraw a.fits | rawaxes --flip=0 | rawtofits | fitstoraw | rawinfo >a
	grep -x "fits.DATASEC:='\[1:4,1:2\]'" a
	grep -x "fits.BIASSEC:='\[5:6,1:2\]' / overscan" a
	fitstoraw a.fits | rawaxes --order=1,0 | rawtofits | fitstoraw | rawinfo | grep -x "fits.DATASEC:='\[1:2,3:6\]'"
	fitstoraw a.fits | rawtofits | cmp - a.fits
}

@test "sections of the detector follow those of the image" {
	# DATASEC: columns 3 to 6. Two detector pixels are under each, and amplifier B was read backwards.
	fits 8 '8 2' "DATASEC = '[3:6,1:2]'" "DETSEC  = '[101:108,11:14]'" "DATASECB= '[7:8,1:2]'" "CCDSECB = '[20:19,1:2]'" \
		"AMPSECB = '[1:5,1:2]'" "POSTSECA= '[3:4,2:2]'" "CCDSUM  = '2 2'" -- C {1..16} >a.fits
	fitstoraw a.fits | rawtofits | cmp - a.fits
	fitstoraw a.fits | rawaxes --crop=0:3:7 | rawtofits 2>said | fitstoraw | rawinfo >a
	same said 'rawtofits: (stdin): item 1: sections that cannot follow the samples are left out: AMPSECB'
	grep -x "fits.DATASEC:='\[1:3,1:2\]'" a
	grep -x "fits.DETSEC:='\[103:108,11:14\]'" a
	grep -x "fits.DATASECB:='\[4:4,1:2\]'" a
	grep -x "fits.CCDSECB:='\[20:20,1:2\]'" a
	grep -x "fits.POSTSECA:='\[1:1,2:2\]'" a
	# Column 6 is now the second last, and CCDSECB runs forwards.
	fitstoraw a.fits | rawaxes --flip=0 | rawtofits 2>/dev/null | fitstoraw | rawinfo >a
	grep -x "fits.DATASEC:='\[3:6,1:2\]'" a
	grep -x "fits.DETSEC:='\[108:101,11:14\]'" a
	grep -x "fits.CCDSECB:='\[19:20,1:2\]'" a
	fitstoraw a.fits | rawaxes --flip=0 | rawaxes --crop=0:2:4 | rawtofits 2>/dev/null | fitstoraw | rawinfo >a
	grep -x "fits.DATASEC:='\[1:2,1:2\]'" a
	grep -x "fits.DETSEC:='\[108:105,11:14\]'" a
	fitstoraw a.fits | rawaxes --order=1,0 | rawtofits | fitstoraw | rawinfo | grep -x "fits.DETSEC:='\[11:14,101:108\]'"
	# A thinned axis has no section of the detector; without DATASEC the section is that of the whole image.
	fitstoraw a.fits | rawaxes --crop=0:1:5 | LC_ALL=C sed 's/^spacings: 1 1/spacings: 2 1/' | rawtofits 2>said >/dev/null
	grep 'left out: DETSEC CCDSECB AMPSECB' said
	fits 8 '4 1' "CCDSEC  = '[11:14,5:5]'" -- C 1 2 3 4 >b.fits
	fitstoraw b.fits | rawaxes --crop=0:1:3 | rawtofits | fitstoraw | rawinfo | grep -x "fits.CCDSEC:='\[12:13,5:5\]'"
}

@test "all types come back" {
	for type in char uchar short ushort int uint int64 uint64 float double; do
		gen --type=$type values 3x2 0 1 2 3 4 100 >a
		rawtofits a | fitstoraw >b
		diff <(rawinfo a | grep -e ^type -e ^sizes) <(rawinfo b | grep -e ^type -e ^sizes)
		diff <(rawtotext a) <(rawtotext b)
	done
}

@test "compressed images come back without loss" {
	gen noise --type=ushort 70 50 >a
	for codec in rice gzip; do
		rawtofits --compress=$codec a >a.fits
		fitstoraw a.fits | rawtopnm --maxval=65535 | cmp - <(pgmtoraw a | rawtopnm)
	done
	gen noise --type=float 70 50 >b
	rawtofits --compress=gzip b | fitstoraw | rawtotext | cmp - <(rawtotext b)
	fails 1 '--compress=rice would lose digits of floats' rawtofits --compress=rice b
	for type in int64 uint64; do
		gen --type=$type values 2x1 1 2 >c
		fails 1 '--compress takes up to 3 axes, and no integers of 64 bits' rawtofits --compress=gzip c
	done
	gen --type=uchar values 2x1x1x1 1 2 >c
	fails 1 '--compress takes up to 3 axes' rawtofits --compress=rice c
	rawtofits a | gzip >a.fits.gz
	fitstoraw a.fits.gz | rawtotext | cmp - <(rawtotext a)
	fitstoraw <a.fits.gz | rawtotext | cmp - <(rawtotext a)
}

@test "checksums are true" {
	gen noise 9 9 >a
	rawtofits --checksum a >a.fits
	fitstoraw a.fits | rawtofits | cmp a.fits
	fitstoraw a.fits | morphrec --hmax=3 | rawtofits >b.fits
	need_astropy
	/usr/bin/python3 -W error -c 'from astropy.io import fits; [h.data for h in fits.open("b.fits", checksum=True)]'
}

@test "astropy reads the pixels and cards that it wrote" {
	need_astropy
	/usr/bin/python3 -W ignore - <<-'END'
		import numpy as np
		from astropy.io import fits
		rng = np.random.default_rng(1)
		units = [fits.PrimaryHDU()]
		for t in 'u1 i1 >i2 >u2 >i4 >u4 >i8 >f4 >f8'.split():
		    d = rng.integers(0, 100, (3, 5, 7)).astype(t)
		    h = fits.ImageHDU(d, name=t.strip('>'))
		    h.header['FLOAT'] = (1e-30, 'small')
		    h.header['TEXT'] = ("it's", 'quoted')
		    h.header['LONGTEXT'] = 'x' * 100
		    h.header.add_history('done')
		    units.append(h)
		units.append(fits.CompImageHDU(rng.integers(0, 999, (30, 40)).astype('i2'), name='packed'))
		fits.HDUList(units).writeto('a.fits')
	END
	fitstoraw a.fits | rawtofits >b.fits
	/usr/bin/python3 -W ignore - <<-'END'
		from astropy.io import fits
		a, b = fits.open('a.fits'), fits.open('b.fits')
		assert len(a) == len(b) == 11
		d = fits.FITSDiff(a, b)
		assert d.identical, d.report()
	END
}

@test "no image, tables, too many axes and lengths of 0 are refused by name" {
	fits 8 '' -- C >none.fits
	fails 1 'none.fits: there is no image in it' fitstoraw none.fits
	fits 8 '3 0' -- C >zero.fits
	fails 1 'zero.fits: there is no image in it' fitstoraw zero.fits
	fails 1 'zero.fits: HDU 0 has an axis of length 0' fitstoraw --hdu=0 zero.fits
	fits 8 '1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1' -- C 1 >many.fits
	fails 1 'it has 17 axes' fitstoraw many.fits
	{ card 'SIMPLE  =                    T' && card 'BITPIX  =                    8' && card 'NAXIS   =                  999' &&
		card END; } | perl -0777 -pe '$_ .= " " x (-length() % 2880)' >broken.fits
	fails 1 'broken.fits: ' fitstoraw broken.fits
}

@test "truncated and hostile files are refused before anything is written" {
	printf "<html>500 Internal Server Error</html>" >page.fits
	fails 1 "page.fits: this is no FITS file, which begins with SIMPLE" fitstoraw page.fits
	fits 16 '100 100' -- 's>' {1..10000} >a.fits
	head -c 9000 a.fits >cut.fits
	fails 1 'cut.fits: HDU 0: the payload ends after 6120 of 20000 bytes' fitstoraw cut.fits
	fails 1 '(stdin): HDU 0: the payload ends after 6120 of 20000 bytes' fitstoraw <cut.fits
	fails 1 '--max-bytes' fitstoraw --max-bytes=1000 a.fits
	fits 16 '1048576 1048576' -- 's>' 1 >huge.fits
	fails 1 '--max-bytes' fitstoraw huge.fits
	fails 1 'HDU 0: the payload ends after' fitstoraw --max-bytes=4T huge.fits
	: >empty.fits
	fails 1 'empty.fits: empty input' fitstoraw empty.fits
	fails 1 '(stdin): empty input' fitstoraw </dev/null
	fails 1 'absent.fits: No such file' fitstoraw absent.fits
	gen noise 9 9 >a.pgm
	fails 1 'a.pgm: ' fitstoraw a.pgm
	fails 1 '.: ' fitstoraw .
	fails 2 'stdin can be read only once' fitstoraw -o out - - <a.fits
}

@test "a full disk and a TMPDIR that is missing are failures" {
	fits 16 '100 100' -- 's>' {1..10000} >a.fits
	fitstoraw a.fits >a
	fails 1 'No space left' bash -c 'rawtofits a >/dev/full'
	fails 1 'No space left' bash -c 'fitstoraw a.fits >/dev/full'
	TMPDIR=$PWD/absent fails 1 'absent/weir' rawtofits a
	TMPDIR=$PWD rawtofits a >b
	[ -z "$(find . -name 'weir.*')" ]
}

@test "--stats counts items and bytes" {
	fits 8 '3 2' -- C 1 2 3 4 5 6 >a.fits
	fitstoraw --stats=s a.fits >a
	grep '"items": 1, "bytes_in": 5760, "bytes_out": ' s
	rawtofits --stats=s a >b
	grep '"items": 1, .*"bytes_out": 5760' s
}

# model W H N STEP [CARD ...] -- SAMPLE ...: a .psf file of PSFEx.
model() {
	local w=$1 h=$2 n=$3 step=$4 cards=()
	shift 4
	while [ "$1" != -- ]; do
		cards+=("$1")
		shift
	done
	shift
	for card in 'SIMPLE  =                    T' 'BITPIX  =                    8' 'NAXIS   =                    0' 'EXTEND  =                    T' END; do
		card "$card"
	done | perl -0777 -pe '$_ .= " " x (-length() % 2880)'
	for card in "XTENSION= 'BINTABLE'" 'BITPIX  =                    8' 'NAXIS   =                    2' \
		"NAXIS1  = $(printf %20d $((4 * w * h * n)))" 'NAXIS2  =                    1' 'PCOUNT  =                    0' \
		'GCOUNT  =                    1' 'TFIELDS =                    1' "EXTNAME = 'PSF_DATA'" "TTYPE1  = 'PSF_MASK'" \
		"TFORM1  = '$((w * h * n))E'" 'POLNAXIS=                    2' 'POLNGRP =                    1' "POLNAME1= 'X_IMAGE '" \
		"POLNAME2= 'Y_IMAGE '" 'POLZERO1=                 11.0' 'POLSCAL1=                 20.0' 'POLZERO2=                 21.0' \
		'POLSCAL2=                 40.0' "PSF_SAMP= $(printf %20s "$step")" 'PSFNAXIS=                    3' \
		"PSFAXIS1= $(printf %20d "$w")" "PSFAXIS2= $(printf %20d "$h")" "PSFAXIS3= $(printf %20d "$n")" "${cards[@]}" END; do
		card "$card"
	done | perl -0777 -pe '$_ .= " " x (-length() % 2880)'
	perl -e '$_ = pack("f>*", @ARGV); print $_, "\0" x (-length() % 2880)' -- "$@"
}

degree() {
	printf 'POLDEG1 = %20d' "$1"
}

@test "a model of PSFEx is a basis for wconv, and needs no option there" {
	# 1 + u / 2 in the middle, and v beside it; u = (x - 10) / 20, v = (y - 20) / 40.
	model 3 1 3 1.0 "$(degree 1)" -- 0 1 0 0 .5 0 0 0 1 >m.psf
	fitstoraw m.psf >m.nrrd
	same <(grep -a -e ^sizes -e ^basis -e ^zero -e ^scale m.nrrd) 'sizes: 3 1 3
basis:=poly:1
zero:=10 20
scale:=20 40'
	same <(rawtotext m.nrrd | grep .) '0 1 0
0 0.5 0
0 0 1'
	# At (30, 40): u = 1, v = .5. Light at (29, 40) comes to (30, 40) by what lies right of the middle.
	gen --type=float --maxval=1 dot 41 61 30 40 >a
	same <(wconv -k m.nrrd a | rawaxes --crop=0:30:32 --crop=1:40:41 | rawtotext --digits=6) '1.5 0.5'
}

@test "a model with other steps comes to pixels by the Lanczos function of three lobes" {
	# Samples of a model are light per pixel, so a constant stays the same. The centre is half the size, rounded down.
	mapfile -t ones < <(yes 1 | head -81)
	model 9 9 1 0.5 "$(degree 0)" -- "${ones[@]}" >m.psf
	same <(fitstoraw m.psf | rawtotext --digits=6) "$(yes '1 1 1 1 1' | head -5)"
	# Those of a homogenisation kernel are light per sample: 4 per pixel where 1 is at every half pixel.
	fits -32 '9 9' 'POLNAXIS=                    0' 'PSF_SAMP=                  0.5' -- 'f>' "${ones[@]}" >homo.fits
	same <(fitstoraw homo.fits | rawtotext --digits=6) "$(yes '4 4 4 4 4' | head -5)"
	# At every second sample the function is 0 but at its centre: the samples themselves, by pixels.
	model 5 1 1 0.5 "$(degree 0)" -- 1 0 7 0 2 >m.psf
	same <(fitstoraw m.psf | rawaxes --slice=1:0 | rawtotext --digits=4) '1 7 2'
	/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip 'python3-numpy is not installed'
	mapfile -t waves < <(seq 525 | awk '{ print sin($1 * $1) }')
	model 25 21 1 0.83 "$(degree 0)" -- "${waves[@]}" >m.psf
	fitstoraw m.psf | rawtonpy >o.npy
	/usr/bin/python3 - <<-'END'
		import numpy as np
		a = np.frombuffer(open('m.psf', 'rb').read()[-2880:], '>f4')[:525].reshape(21, 25).astype('f8')
		o = np.load('o.npy')
		def weights(m, n):
		    d = np.arange(m) - (m // 2 + (np.arange(n)[:, None] - n // 2) / np.float64(.83))
		    w = np.where(abs(d) < 3, np.sinc(d) * np.sinc(d / 3), 0)
		    return w / w.sum(1, keepdims=True)
		assert o.shape == (17, 19)
		want = weights(21, 17) @ a @ weights(25, 19).T
		assert abs(o - want).max() < 1e-6 * abs(want).max()
	END
}

@test "broken models of PSFEx are refused by name" {
	model 3 1 3 1.0 "$(degree 2)" -- 0 1 0 0 .5 0 0 0 1 >m.psf
	fails 1 'HDU 1: it is a model of PSFEx, and POLDEG1 does not agree with the number of planes' fitstoraw m.psf
	model 3 1 3 0.0 "$(degree 1)" -- 0 1 0 0 .5 0 0 0 1 >m.psf
	fails 1 'is a table' bash -c 'fitstoraw --hdu=1 m.psf'
	model 3 1 3 1e9 "$(degree 1)" -- 0 1 0 0 .5 0 0 0 1 >m.psf
	fails 1 'PSF_SAMP is not in .01..100' fitstoraw m.psf
	model 3 1 3 1.0 "$(degree 1)" -- 0 1 0 0 .5 0 0 0 1 | sed 's/X_IMAGE /MAG_AUTO/' >m.psf
	fails 1 'depends on more than X_IMAGE and Y_IMAGE' fitstoraw m.psf
	model 3 1 3 1.0 "$(degree 1)" -- 0 1 0 0 .5 0 0 0 1 | sed 's/PSFAXIS1=                    3/PSFAXIS1=                 4000/' >m.psf
	fails 1 'its column does not have the samples of PSFAXIS' fitstoraw m.psf
	model 3 1 3 1.0 "$(degree 1)" -- 0 1 0 0 .5 0 0 0 1 | head -c 5770 >m.psf
	fails 1 'm.psf' fitstoraw m.psf
}

@test "a file of --stats that is an input is refused, and stdin is read once" {
	fits 8 2 -- C 1 2 >a.fits
	fails 2 '--stats names this input' fitstoraw --stats=a.fits a.fits
	fails 2 'stdin can be read only once' bash -c 'fitstoraw -o out - - <a.fits'
	[ "$(fitstoraw a.fits | rawtotext)" = '1 2' ]
}
