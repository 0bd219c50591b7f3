load lib

# fitstoraw and rawtofits: images of FITS files in and out.

# number NAME VALUE: the text of a card.
number() {
	printf '%-8s= %20s' "$1" "$2"
}

# header CARD...: the cards and END, in whole blocks.
header() {
	printf '%-80s' "$@" END | perl -0777 -pe '$_ .= " " x (-length() % 2880)'
}

# data FORMAT [SAMPLE ...]: FORMAT is that of perl's pack.
data() {
	perl -e '$_ = pack(shift() . "*", @ARGV); print $_, "\0" x (-length() % 2880)' -- "$@"
}

# fits BITPIX AXES [CARD ...] -- FORMAT [SAMPLE ...]: a file of one image.
fits() {
	local bitpix=$1 axes=$2 cards=() n
	shift 2
	for n in $axes; do cards+=("$(number NAXIS$((${#cards[@]} + 1)) "$n")"); done
	n=${#cards[@]}
	while [ "$1" != -- ]; do
		cards+=("$1")
		shift
	done
	header 'SIMPLE  =                    T / a standard file' "$(number BITPIX "$bitpix")" "$(number NAXIS "$n")" "${cards[@]}"
	data "${@:2}"
}

# extension: an image as an extension.
extension() {
	perl -0777 -pe 's/^SIMPLE  =.{71}/sprintf "%-80s", "XTENSION= \x27IMAGE   \x27"/e'
}

# py <<-END: Python with these names, where it has them.
py() {
	/usr/bin/python3 -c 'import astropy' 2>/dev/null || skip "python3-astropy is not installed"
	{ echo 'import glob, numpy as np' && echo 'from astropy.io import fits' && echo 'from astropy.wcs import WCS' && cat; } |
		/usr/bin/python3 -W ignore -
}

@test "samples of every BITPIX come in the type that holds them; BLANK becomes NaN" {
	fits 8 '3 2' -- C 1 2 3 4 5 255 | fitstoraw >a
	grep -ax 'sizes: 3 2' a
	lines <(rawtotext a) '1 2 3/4 5 255'
	# BITPIX, FORMAT, SAMPLES, CARDS, the type and the samples.
	while IFS=, read -r bitpix format samples cards type want; do
		fits "$bitpix" "$(wc -w <<<"$samples")" ${cards:+"${cards% / *}"} ${cards:+"${cards#* / }"} -- "$format" $samples | fitstoraw >a
		grep -ax "type: $type" a
		same <(rawtotext a) "$want"
		run -1 grep -a BLANK a
	done <<-'END'
		8,C,1 255,,uchar,1 255
		16,s>,-32768 32767,,short,-32768 32767
		32,l>,-2147483648 2147483647,,int,-2147483648 2147483647
		64,q>,-9007199254740993 9223372036854775807,,int64,-9007199254740993 9223372036854775807
		-32,f>,1.5 -2 nan,,float,1.5 -2 nan
		-64,d>,0.1,,double,0.1
		16,s>,-32768 32767,BZERO   =                32768,ushort,0 65535
		8,C,0 255,BZERO   =                 -128,signed char,-128 127
		32,l>,-2147483648 2147483647,BZERO   =           2147483648,uint,0 4294967295
		16,s>,-4 0 3,BSCALE  = 0.25 / BZERO   = 100,float,99 100 100.75
		16,s>,0 1,BSCALE  = 0.001 / BZERO   = 2450000,double,2450000 2450000.001
		32,l>,2147483647 1,BSCALE  =                  0.5,double,1073741823.5 0.5
		16,s>,-1 0 7,BLANK   =                   -1,float,nan 0 7
		64,q>,2 5,BLANK   =                    2,double,nan 5
	END
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
	# BZERO, BSCALE and EXTEND come back where they stood.
	fits 16 '2' 'OBJECT  = '"'M 31    '" 'BSCALE  =                    1' 'EXTEND  =                    T / late' \
		'BZERO   =                32768 / unsigned' -- 's>' -1 5 >a.fits
	fitstoraw a.fits | rawtofits | cmp a.fits
	fits 8 '1' 'BZERO   =                 -128' 'EXPTIME =                  2.0' -- C 7 >a.fits
	fitstoraw a.fits | rawtofits | cmp a.fits
}

@test "a file of several units comes back" {
	fits 8 '' 'EXTEND  =                    T' 'ORIGIN  = '"'here    '" -- C >a.fits
	fits -32 '2' "EXTNAME = 'SCI     '" -- 'f>' 1 2 | extension >>a.fits
	fits 16 '2' "EXTNAME = 'DQ      '" -- 's>' 7 8 | extension >>a.fits
	fitstoraw --stats=s a.fits >items
	grep '"items": 2, "bytes_in": 14400, "bytes_out": ' s
	lines <(rawtotext items) '1 2//7 8'
	rawinfo items | grep -x "fits0.ORIGIN:='here    '"
	rawtofits items | fitstoraw --hdu=2 | rawtotext | grep -x '7 8'
	same <(fitstoraw --hdu=sci a.fits | rawtotext) '1 2'
	lines <(fitstoraw --hdu=DQ,1 a.fits | rawtotext) '1 2//7 8'
	fails 1 'HDU 0 has no pixels' fitstoraw --hdu=0 a.fits
	fails 1 '--hdu=NONE,1: 1 of these 2 are in the file, whose HDUs are 0 to ' fitstoraw --hdu=NONE,1 -o out a.fits
	[ ! -e out ]
}

@test "the coordinates of a part are those of the whole" {
	fits 8 '4 3' 'CRPIX1  =                  2.5 / where' 'CRPIX2  =                  1.0' 'CDELT1  =                 -0.5' \
		'LTV1    =                  0.0' -- C {1..12} >a.fits
	fitstoraw a.fits | rawtile --size=2x2 --only=3 | rawtofits | has 'CRPIX1:=0.5 / where' CRPIX2:=-1.0 CDELT1:=-0.5 LTV1:=-2.0
	# Without coordinates, LTV and LTM say where a part lies.
	fits 8 '4 3' -- C {1..12} >a.fits
	fitstoraw a.fits | rawaxes --crop=0:1:3 | rawtofits >b.fits
	has LTV1:=-1.0 <b.fits
	run -1 grep -E 'LTV2|LTM|CRPIX' said.head
	fitstoraw b.fits | rawaxes --flip=0 | rawtofits | has LTV1:=4.0 LTM1_1:=-1.0
	fitstoraw a.fits | rawtofits | cmp a.fits
	# A file with two matrices, and the plate of the sky survey.
	fits 8 '4 3' 'CRPIX1  =                  1.0' 'CD1_1   =                  0.5' 'CD1_2   =                0.125' \
		'PC1_1   =                  0.5' 'PC1_2   =                0.125' 'CNPIX1  =                 7000' -- C {1..12} >a.fits
	fitstoraw a.fits | rawaxes --flip=0 | rawtofits | has CRPIX1:=4.0 CD1_1:=-0.5 CD1_2:=0.125 PC1_1:=-0.5 PC1_2:=0.125
	fitstoraw a.fits | rawaxes --crop=0:1:3 | rawtofits | has CNPIX1:=7001.0
}

@test "wcslib finds each pixel at the same place after cuts, flips and other orders of axes" {
	py <<-'END'
		cd = dict(CD1_1=-5e-4, CD1_2=1e-4, CD2_1=1.2e-4, CD2_2=5.1e-4)
		cdelt = dict(CDELT1=-5e-4, CDELT2=4e-4)
		kinds = dict(TAN=cd, SIN=dict(cdelt, CROTA2=20.), CAR=cdelt, ARC=dict(cdelt, PC1_1=.8, PC1_2=.6, PC2_1=-.6, PC2_2=.8),
		    ZEA=dict(cdelt, PC01_01=.8, PC01_02=.6, PC02_1=-.6, PC2_02=.8), STG=dict(CD01_01=-5e-4, CD02_02=4e-4, CD001002=1e-4),
		    SFL=dict(cdelt, PC001001=-1., PC001002=.1, PC002001=.2, PC002002=1.), ZPN=dict(cd, PV2_1=1., PV2_3=.3),
		    TPV=dict(cd, PV1_1=1.001, PV1_2=.002, PV1_4=.5, PV2_1=.999, PV2_4=-.4),
		    SIP=dict(cd, A_ORDER=2, A_2_0=3e-4, A_1_1=-2e-4, B_ORDER=2, B_0_2=1e-4, B_1_1=2e-4))
		kinds['ALT'] = dict(cdelt, CTYPE1A='RA---TPV', CTYPE2A='DEC--TPV', CRPIX1A=3., CRPIX2A=4., CRVAL1A=10., CRVAL2A=20.,
		    **{k + 'A': v for k, v in kinds['TPV'].items()})
		for kind, cards in kinds.items():
		    h = fits.PrimaryHDU(np.arange(20 * 30, dtype='i2').reshape(20, 30))
		    code = 'TAN-SIP' if kind == 'SIP' else 'TAN' if kind == 'ALT' else kind
		    h.header.update(dict(CTYPE1='RA---' + code, CTYPE2='DEC--' + code, CRPIX1=12.5, CRPIX2=7., CRVAL1=150., CRVAL2=2., **cards))
		    h.writeto(kind + '.fits')
	END
	for options in '--crop=0:5:25 --crop=1:3:20' --flip=0 --flip=1 --order=1,0 '--crop=0:4:9 --flip=1 --order=1,0'; do
		for f in *.fits; do
			fitstoraw "$f" | rawaxes $options | rawtofits >"$f.${options// /}" 2>>said
		done
	done
	[ ! -s said ]
	py <<-'END'
		def places(file): # of each pixel, which its value names
		    unit = fits.open(file)[0]
		    w, (y, x) = WCS(unit.header, key='A' if 'ALT' in file else ' '), np.indices(unit.data.shape)
		    v = w.all_pix2world(np.c_[x.ravel(), y.ravel()], 0)
		    return unit.data.ravel(), v[:, [w.wcs.lng, w.wcs.lat]]
		cut = glob.glob('*.fits.*')
		assert len(cut) == 55
		for file in cut:
		    n, here = places(file)
		    all = places(file[:file.index('.fits') + 5])[1]
		    assert abs(here - all[n]).max() < 1e-10, (file, here[0], all[n[0]])
	END
	# Without a matrix, the polynomials of TPV do not hold.
	fits 8 '2 1' "CTYPE1  = 'RA---TPV'" "CTYPE2  = 'DEC--TPV'" 'PV1_1   =                  1.1' -- C 1 2 |
		fitstoraw >tpv
	rawaxes --order=1,0 tpv 2>&1 >/dev/null | grep 'fits.CTYPE1 and its distortions do not hold for these axes'
	rawaxes --flip=0 tpv | rawtofits 2>&1 >/dev/null | grep 'CTYPE1 and its distortions do not follow the samples'
}

@test "tables of distortions and plate solutions are named when the samples leave them" {
	fits 8 '4 3' 'CRPIX1  =                  1.0' "CPDIS1  = 'LOOKUP  '" -- C {1..12} >a.fits
	fitstoraw a.fits | rawtofits 2>err | cmp a.fits
	[ ! -s err ]
	fitstoraw a.fits | rawaxes --crop=1:1:3 |
		remarks 'rawtofits: (stdin): item 1: CPDIS1 and its distortions do not follow the samples; positions by them are wrong' rawtofits -o b.fits
	fits 8 '4 3' 'CNPIX1  =                    7' 'AMDX1   =                  1.0' -- C {1..12} >a.fits
	fitstoraw a.fits | rawaxes --crop=0:1:3 | remarks '' rawtofits -o b.fits
	fitstoraw a.fits | rawaxes --flip=1 | hints AMDX1 rawtofits -o b.fits
}

@test "positions of an item of another format become a coordinate system, and come back" {
	item float '2 2' 'centers: node node' 'spacings: .5 2' 'axis mins: 10 -1' 'labels: "x" "y"' 'units: "um" "um"' \
		'kept:=yes' 'history:=maker' -- 1 2 3 4 >a
	rawtofits a >a.fits
	has CRPIX1:=1.0 'CRVAL1:=10.0 / axis min of weir-raw(5)' 'CDELT1:=0.5 / spacing of weir-raw(5)' CDELT2:='2.0 / spacing of weir-raw(5)' \
		"CUNIT1:='um      ' / unit of weir-raw(5)" "CTYPE2:='y       ' / label of weir-raw(5)" HISTORY:=maker <a.fits
	grep -x kept:=yes said.head
	fitstoraw a.fits | rawtofits | cmp - a.fits
	# What became of the axes, and what of the cards: positions of FITS would be 0 and 1.
	while IFS='|' read -r options want card; do
		fitstoraw a.fits | rawaxes $options >b
		same <(grep -a -e ^spacings -e ^axis -e ^labels -e ^units b | cut -d' ' -f2- | paste -sd /) "$want"
		rawtofits b | has "$card / axis min of weir-raw(5)"
		same <(rawtofits b | fitstoraw | rawinfo | sed -n 2,10p) "$(rawinfo b | sed -n 2,10p)"
	done <<-'END'
		--crop=1:1:2|0.5 2/mins: 10 1/"x" "y"/"um" "um"|CRVAL2:=1.0
		--flip=0|-0.5 2/mins: 10.5 -1/"x" "y"/"um" "um"|CRVAL1:=10.5
		--order=1,0|2 0.5/mins: -1 10/"y" "x"/"um" "um"|CRVAL2:=10.0
		--slice=0:1|2/mins: -1/"y"/"um"|CRVAL2:=10.5
	END
	# Places are compared by these positions.
	fitstoraw a.fits | rawaxes --crop=0:1:2 >b
	remarks '' rawmath 'a - b' b <(rawaxes --crop=0:1:2 a | rawtofits | fitstoraw) >c
	rawmath 'a - b' b <(rawaxes --crop=0:0:1 a | rawtofits | fitstoraw) 2>&1 >c | grep 'is a map of another place'
	# An axis that has the one comes back without the other.
	item uchar '1 1' 'centers: node node' 'spacings: 3 nan' 'axis mins: nan 7' "labels: \"it's\" \"\"" -- 1 >b
	same <(rawtofits b | fitstoraw | rawinfo | grep -e ^spacings -e ^axis -e ^labels) "$(rawinfo b | grep -e ^spacings -e ^axis -e ^labels)"
}

@test "a grid of kernels comes back from FITS with the places of its nodes, and pixels of FITS are no places" {
	item float '1 1 3 1' 'centers: none none node none' 'spacings: nan nan 4 nan' 'axis mins: nan nan 2 nan' -- 1 2 3 >k
	gen --type=float constant 12 1 1 >a
	wconv -k k a | rawtotext >want
	grep -x '1 1 1 1.25 1.5 1.75 2 2.25 2.5 2.75 3 3' want
	wconv -k <(rawtofits k | fitstoraw) a | rawtotext | cmp - want
	# Three kernels at the centres of a third each, wherever they are stored.
	fits -32 '1 1 3 1' -- 'f>' 1 2 3 >k.fits
	fitstoraw k.fits >b
	for k in b <(rawaxes --crop=2:0:3 b) <(item float '1 1 3 1' -- 1 2 3 | rawtofits | fitstoraw); do
		wconv -k "$k" a | rawtotext | cmp - <(wconv -k <(item float '1 1 3 1' -- 1 2 3) a | rawtotext)
	done
}

@test "keys that are no cards come back, long ones too, and the parts of a picture keep their place" {
	long=$(seq -s' ' 100 199)
	item float '2 2' 'tile:=4 6 8 8' "background:=$long" 'odd:=a&' 'blank:=' 'kept:=1' 'kept:=2' -- 1 2 3 4 >a
	rawtofits a >a.fits
	fitstoraw a.fits | says 'tile:=4 6 8 8' "background:=$long" 'odd:=a&' blank:= kept:=1 kept:=2
	fitstoraw a.fits | rawtofits | cmp - a.fits
	# Comments of other programs stay comments.
	fits 8 '2 1' 'COMMENT   a word' 'COMMENT see a:=b' 'COMMENT fits.GAIN:=2' 'COMMENT cut:=off&' -- C 1 2 >c.fits
	has 'COMMENT:=  a word' 'COMMENT:=see a:=b' COMMENT:=fits.GAIN:=2 <c.fits
	grep 'cut:=off' said.head
	gen noise 20 12 | pgmtoraw >a
	rawtile --grid=2x2 --margin=3 a | rawtofits | fitstoraw | rawjoin | rawtotext | cmp - <(rawtotext a)
}

@test "axes of one sample behind a picture are no more pictures" {
	# shellcheck disable=SC2046 # samples are words
	fits -32 '9 7 1 1' "CTYPE3  = 'FREQ    '" 'CRVAL3  =                1.4E9' -- 'f>' $(seq 63 | awk '{ print $1 * 37 % 11 }') >a.fits
	fitstoraw a.fits >b
	rawaxes --slice=2:0 --slice=3:0 b >a
	for command in 'rawlabel --above=5' rawdist 'rawtile --size=4x4 --only=1' 'rawtopnm --range=0:11' 'rawlabel --above=5 --to=csv'; do
		$command b >c
		if [[ $command = rawl*csv ]]; then $command a | cmp - c; else $command a | rawtotext | cmp - <(rawtotext c); fi
	done
	rawtile --grid=2x2 b | rawjoin | rawtofits | has NAXIS4:=1 "CTYPE3:='FREQ    '"
}

# after AXES CARD...: what becomes of a.fits is the cards; `left` are the sections that are left out.
after() {
	fitstoraw a.fits | rawaxes $1 2>/dev/null | rawtofits 2>said | has "${@:2}"
	[ ! -s said ] || same said "rawtofits: (stdin): item 1: sections that cannot follow the samples are left out: $left"
}

@test "sections of a CCD follow a cut, a flip and a transposition" {
	fits 8 '6 2' "DATASEC = '[3:6,1:2]'" "BIASSEC = '[1:2,1:2]'          / overscan" "TRIMSEC1= '[ 4: 5, :]'" "CCDSEC  = '[3:6,1:2]'" -- \
		C {1..12} >a.fits
	left=BIASSEC after --crop=0:3:5 "DATASEC:='[1:2,1:2]'" "TRIMSEC1:='[1:2, :]'" "CCDSEC:='[4:5,1:2]'"
	run -1 grep BIASSEC said.head
	after --flip=0 "DATASEC:='[1:4,1:2]'" "BIASSEC:='[5:6,1:2]' / overscan"
	after --order=1,0 "DATASEC:='[1:2,3:6]'"
	fitstoraw a.fits | rawtofits | cmp - a.fits
}

@test "sections of the detector follow those of the image" {
	# DATASEC: columns 3 to 6. Two detector pixels are under each, and amplifier B was read backwards.
	fits 8 '8 2' "DATASEC = '[3:6,1:2]'" "DETSEC  = '[101:108,11:14]'" "DATASECB= '[7:8,1:2]'" "CCDSECB = '[20:19,1:2]'" \
		"AMPSECB = '[1:5,1:2]'" "POSTSECA= '[3:4,2:2]'" "CCDSUM  = '2 2'" -- C {1..16} >a.fits
	fitstoraw a.fits | rawtofits | cmp - a.fits
	left=AMPSECB
	after --crop=0:3:7 "DATASEC:='[1:3,1:2]'" "DETSEC:='[103:108,11:14]'" "DATASECB:='[4:4,1:2]'" "CCDSECB:='[20:20,1:2]'" \
		"POSTSECA:='[1:1,2:2]'"
	# Column 6 is now the second last, and CCDSECB runs forwards.
	after --flip=0 "DATASEC:='[3:6,1:2]'" "DETSEC:='[108:101,11:14]'" "CCDSECB:='[19:20,1:2]'"
	left='CCDSECB AMPSECB DATASECB POSTSECA' after '--crop=0:4:6 --flip=0' "DATASEC:='[1:2,1:2]'" "DETSEC:='[108:105,11:14]'"
	after --order=1,0 "DETSEC:='[11:14,101:108]'"
	# A thinned axis has no section of the detector; without DATASEC the section is that of the whole image.
	fitstoraw a.fits | rawaxes --crop=0:1:5 | LC_ALL=C sed 's/^spacings: 1 1/spacings: 2 1/' | hints 'left out: DETSEC CCDSECB AMPSECB' rawtofits >/dev/null
	fits 8 '4 1' "CCDSEC  = '[11:14,5:5]'" -- C 1 2 3 4 >a.fits
	after --crop=0:1:3 "CCDSEC:='[12:13,5:5]'"
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
	fails 1 '--compress takes up to 3 axes' rawtofits --compress=rice <(gen --type=uchar values 2x1x1x1 1 2)
	rawtofits a | gzip >a.fits.gz
	fitstoraw a.fits.gz | rawtotext | cmp - <(rawtotext a)
	fitstoraw <a.fits.gz | rawtotext | cmp - <(rawtotext a)
}

@test "a quantised image is right behind one that is packed without loss" {
	py <<-'END'
		a = np.random.default_rng(1).normal(100, 9, (40, 50)).astype('f4')
		def pack(**how): return fits.CompImageHDU(a, tile_size=(50, 1), **how)
		for method in (-1, 1):
		    fits.HDUList([fits.PrimaryHDU(), pack(compression_type='GZIP_2', quantize_level=0),
		        pack(compression_type='RICE_1', quantize_level=16, quantize_method=method)]).writeto('a%d.fits' % -method)
		    fits.open('a%d.fits' % -method)[2].data.astype('<f4').tofile('a%d' % -method)
	END
	for n in 1 -1; do
		for options in '' --hdu=2; do
			fitstoraw $options "a$n.fits" | tail -c 8000 | cmp - "a$n"
		done
	done
}

@test "what is missing or left behind the last image is a warning" {
	fits 16 '2 2' -- 's>' 1 2 3 4 >a.fits
	head -c 2888 a.fits >short.fits
	fitstoraw short.fits 2>err | rawtofits | cmp - a.fits
	same err 'fitstoraw: short.fits: HDU 0: the last 2872 bytes are missing, which only fill the block'
	run -1 fitstoraw -o b short.fits none.fits
	[ "$output" = 'fitstoraw: none.fits: No such file or directory' ] # the warning is dropped
	fails 1 'the payload ends after 7 of 8 bytes' fitstoraw <(head -c 2887 a.fits)
	{ cat a.fits && printf 'hello world'; } >long.fits
	fitstoraw long.fits 2>err | rawtofits | cmp - a.fits
	grep -x 'fitstoraw: long.fits: no HDU begins behind HDU 0, and the rest is left out: .*' err
	run -1 fitstoraw <(cat a.fits a.fits)
	fails 1 'no FITS file' fitstoraw <(echo hello)
}

@test "items of a file that are no pictures are named, and how to leave them out" {
	fits -32 '2' -- 'f>' 1 2 >a.fits
	for name in DQ err DQ; do fits 16 '2' "EXTNAME = '$name'" -- 's>' 7 8 | extension >>a.fits; done
	fits 16 '2' -- 's>' 7 8 | extension >>a.fits
	remarks 'fitstoraw: a.fits: items that are no pictures: HDU 1 (DQ), HDU 2 (err), HDU 4; --hdu=0 leaves them out' fitstoraw a.fits >b
	rawinfo b | grep -c ^mean | grep -x 5
	remarks '' fitstoraw --hdu=0,1 a.fits >b
	fits -32 '2' "EXTNAME = 'SCI'" -- 'f>' 1 2 >c.fits
	fits -32 '2' "EXTNAME = 'WHT'" -- 'f>' 1 2 | extension >>c.fits
	hints 'c.fits: items that .*: HDU 1 (WHT); --hdu=SCI leaves them out' fitstoraw c.fits >b
	remarks '' fitstoraw --hdu=SCI c.fits >b
}

@test "tiles that cannot hold their pixels are refused before cfitsio reads them" {
	gen noise --type=ushort 70 50 | rawtofits --compress=rice >a.fits
	# What the header says of RICE, and where the first tile lies, which is said behind the header. Newer versions of cfitsio see
	# the size of 0 themselves.
	while IFS='|' read -r from text; do
		perl -0777 -pe "$from" a.fits >b.fits
		cmp -s a.fits b.fits && exit 1
		fails 1 "$text" fitstoraw b.fits
	done <<-'END'
		s/(ZVAL1   = {19})32/$1-1/|tile 1 is damaged
		s/(ZVAL1   = {19})32/$1 0/|size
		substr($_, 5760, 4) = pack "N", 2|tile 1 is damaged: 2 bytes from byte 0 of
		substr($_, 5768, 4) = pack "N", 1 << 30|tile 2 is damaged
		substr($_, 5772, 4) = pack "N", 1 << 30|tile 2 is damaged
	END
}

@test "checksums are true, and a wrong one is named and not made true" {
	gen noise 9 9 >a
	rawtofits --checksum a >a.fits
	fitstoraw a.fits | rawtofits | cmp a.fits
	for n in 2885 800; do # a sample, a card
		perl -0777 -pe "substr(\$_, $n, 1) ^= \"\1\"" a.fits >b.fits
		fitstoraw b.fits 2>err | rawtofits | has NAXIS1:='9 / length of data axis 1'
		run -1 grep SUM said.head
		[ $n = 800 ] && name=CHECKSUM || name=DATASUM
		same err "fitstoraw: b.fits: HDU 0: $name is wrong: what it sums has changed; the item gets no sum"
	done
	fitstoraw a.fits | morphrec --hmax=3 | rawtofits >b.fits
	py <<<'import warnings; warnings.simplefilter("error"); [h.data for h in fits.open("b.fits", checksum=True)]'
}

@test "astropy reads the pixels and cards that it wrote" {
	py <<-'END'
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
	py <<-'END'
		a, b = fits.open('a.fits'), fits.open('b.fits')
		assert len(a) == len(b) == 11
		d = fits.FITSDiff(a, b)
		assert d.identical, d.report()
	END
}

@test "what is no image, truncated or hostile is refused by name, before anything is written" {
	printf "<html>500 Internal Server Error</html>" >page.fits
	fits 8 '' -- C >none.fits
	fits 8 '3 0' -- C >zero.fits
	fits 8 '1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1' -- C 1 >many.fits
	header "$(number SIMPLE T)" "$(number BITPIX 8)" "$(number NAXIS 999)" >broken.fits
	fits 16 '100 100' -- 's>' {1..10000} >a.fits
	head -c 9000 a.fits >cut.fits
	fits 16 '1048576 1048576' -- 's>' 1 >huge.fits
	all_fail fitstoraw <<-'END'
		1|page.fits: this is no FITS file, which begins with SIMPLE|page.fits
		1|none.fits: there is no image in it|none.fits
		1|zero.fits: there is no image in it|zero.fits
		1|zero.fits: HDU 0 has an axis of length 0|--hdu=0 zero.fits
		1|it has 17 axes|many.fits
		1|broken.fits: |broken.fits
		1|cut.fits: HDU 0: the payload ends after 6120 of 20000 bytes|cut.fits
		1|--max-bytes|--max-bytes=1000 a.fits
		1|--max-bytes|huge.fits
		1|HDU 0: the payload ends after|--max-bytes=4T huge.fits
	END
	fails 1 '(stdin): HDU 0: the payload ends after 6120 of 20000 bytes' fitstoraw <cut.fits
	[ "$(fitstoraw a.fits | rawtotext | head -c 5)" = '1 2 3' ]
}

@test "a TMPDIR that is missing is a failure, and nothing is left there" {
	gen noise 9 9 >a
	TMPDIR=$PWD/absent fails 1 'absent/weir' rawtofits a
	TMPDIR=$PWD rawtofits a >b
	[ -z "$(find . -name 'weir.*')" ]
}

# model W H N STEP [CARD ...] -- SAMPLE ...: a .psf file of PSFEx.
model() {
	local w=$1 h=$2 n=$3 step=$4 cards=()
	shift 4
	while [ "$1" != -- ]; do
		cards+=("$1")
		shift
	done
	header "$(number SIMPLE T)" "$(number BITPIX 8)" "$(number NAXIS 0)" "$(number EXTEND T)"
	header "XTENSION= 'BINTABLE'" "$(number BITPIX 8)" "$(number NAXIS 2)" "$(number NAXIS1 $((4 * w * h * n)))" "$(number NAXIS2 1)" \
		"$(number PCOUNT 0)" "$(number GCOUNT 1)" "$(number TFIELDS 1)" "EXTNAME = 'PSF_DATA'" "TTYPE1  = 'PSF_MASK'" \
		"TFORM1  = '$((w * h * n))E'" "$(number POLNAXIS 2)" "$(number POLNGRP 1)" "POLNAME1= 'X_IMAGE '" "POLNAME2= 'Y_IMAGE '" \
		"$(number POLZERO1 11.0)" "$(number POLSCAL1 20.0)" "$(number POLZERO2 21.0)" "$(number POLSCAL2 40.0)" "$(number PSF_SAMP "$step")" \
		"$(number PSFNAXIS 3)" "$(number PSFAXIS1 "$w")" "$(number PSFAXIS2 "$h")" "$(number PSFAXIS3 "$n")" "${cards[@]}"
	data 'f>' "${@:2}"
}

@test "a model of PSFEx is a basis for wconv, and needs no option there" {
	# 1 + u / 2 in the middle, and v beside it; u = (x - 10) / 20, v = (y - 20) / 40.
	model 3 1 3 1.0 "$(number POLDEG1 1)" -- 0 1 0 0 .5 0 0 0 1 >m.psf
	fitstoraw m.psf >m.nrrd
	lines <(grep -a -e ^sizes -e ^basis -e ^zero -e ^scale m.nrrd) 'sizes: 3 1 3/basis:=poly:1/zero:=10 20/scale:=20 40'
	lines <(rawtotext m.nrrd | grep .) '0 1 0/0 0.5 0/0 0 1'
	# At (30, 40): u = 1, v = .5. Light at (29, 40) comes to (30, 40) by what lies right of the middle.
	gen --type=float --maxval=1 dot 41 61 30 40 >a
	same <(wconv -k m.nrrd a | rawaxes --crop=0:30:32 --crop=1:40:41 | rawtotext --digits=6) '1.5 0.5'
}

@test "a model with other steps comes to pixels by the Lanczos function of three lobes" {
	# Samples of a model are light per pixel, so a constant stays the same. The centre is half the size, rounded down.
	mapfile -t ones < <(yes 1 | head -81)
	model 9 9 1 0.5 "$(number POLDEG1 0)" -- "${ones[@]}" >m.psf
	same <(fitstoraw m.psf | rawtotext --digits=6) "$(yes '1 1 1 1 1' | head -5)"
	# Those of a homogenisation kernel are light per sample: 4 per pixel where 1 is at every half pixel.
	fits -32 '9 9' 'POLNAXIS=                    0' 'PSF_SAMP=                  0.5' -- 'f>' "${ones[@]}" >homo.fits
	same <(fitstoraw homo.fits | rawtotext --digits=6) "$(yes '4 4 4 4 4' | head -5)"
	# At every second sample the function is 0 but at its centre: the samples themselves, by pixels.
	model 5 1 1 0.5 "$(number POLDEG1 0)" -- 1 0 7 0 2 >m.psf
	same <(fitstoraw m.psf | rawaxes --slice=1:0 | rawtotext --digits=4) '1 7 2'
	mapfile -t waves < <(seq 525 | awk '{ print sin($1 * $1) }')
	model 25 21 1 0.83 "$(number POLDEG1 0)" -- "${waves[@]}" >m.psf
	fitstoraw m.psf | rawtonpy >o.npy
	py <<-'END'
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
	# DEGREE, STEP, a pattern and what replaces it, the message.
	while IFS=, read -r degree step from to text; do
		model 3 1 3 "$step" "$(number POLDEG1 "$degree")" -- 0 1 0 0 .5 0 0 0 1 | sed "s/${from:-NONE}/$to/" >m.psf
		fails 1 "$text" fitstoraw --hdu=1 m.psf
	done <<-'END'
		2,1.0,,,HDU 1: it is a model of PSFEx, and POLDEG1 does not agree with the number of planes
		1,0.0,,,is a table of PSFEx without a card PSF_SAMP above 0
		1,1.0,POLNAXIS,POLNAXES,is a table of PSFEx without the card POLNAXIS
		1,1e9,,,PSF_SAMP is not in .01..100
		1,1.0,X_IMAGE ,MAG_AUTO,depends on more than X_IMAGE and Y_IMAGE
		1,1.0,PSFAXIS1=                    3,PSFAXIS1=                 4000,its column does not have the samples of PSFAXIS
	END
	model 3 1 3 1.0 "$(number POLDEG1 1)" -- 0 1 0 0 .5 0 0 0 1 | head -c 5770 >m.psf
	fails 1 'm.psf' fitstoraw m.psf
}

# sky KIND CARD...: an image of 3 by 4 pixels, in this projection of ra 10, dec 0 at column 1 of the first row, with two that are 5.
sky() {
	fits 8 '3 4' "CTYPE1  = 'RA---$1'" "CTYPE2  = 'DEC--$1'" "$(number CRPIX1 2)" "$(number CRPIX2 1)" "$(number CRVAL1 10)" \
		"$(number CRVAL2 0)" "$(number CDELT1 -1)" "${@:2}" -- C 0 0 0 0 0 0 0 5 0 0 5 0
}

@test "places in the sky are those of the projection and its distortions, wherever the samples are" {
	# A step of 1 along the tangent, in radians, is 45 degrees; ARC has degrees. The polynomials make 1 of the pixel's 2, or of .5.
	one="$(number CDELT2 57.29577951308232)" arc="$(number CDELT2 45)" sip="$(number A_ORDER 2)|$(number B_ORDER 2)|$(number B_0_2 -.25)"
	while IFS='|' read -r kind pixel cards; do
		mapfile -t cards < <(tr '|' '\n' <<<"$cards")
		sky "$kind" "${cards[@]}" | fitstoraw | rawaxes --flip=1 --crop=0:1:3 | rawtotext --positions --map | grep -x "1 $pixel 10 45 [05]"
	done <<<"TAN|1|$one
ARC|1|$arc
ZPN|1|$arc|$(number PV2_1 1)
TPV|1|$(number CDELT2 28.64788975654116)|$(number PV2_1 2)
TAN-SIP|2|$one|$sip
TAN|2|$one|$sip"
	sky TAN "$one" | fitstoraw >a
	lines <(rawlabel --map --to=csv a | cut -d, -f 1-2,7,8,25-) 'label,size,x,y,ra,dec,item/1,2,1,2.5,10,68.1985905136482,0'
	lines <(rawlabel --map --to=table a | rawtotext --header | cut -d ' ' -f 25-) 'ra dec/10 68.19859051364818'
	sky TAN "$one" | sed 's/RA--/GLON/; s/DEC-/GLAT/' | fitstoraw >b
	fails 1 'its table has other columns' rawlabel --map --to=csv -o c a b
	same <(item short 2 'geotransform:=100 10 0 500 0 -10' -- 3 4 | rawtotext --positions --map | tail -n 1) '1 115 495 4'
	# A string that does not end, axes that nobody has, and a projection that nobody knows.
	for edit in "s/'DEC--TAN'/'DEC--TAN /" "s/--TAN'/--QQQ'/g"; do
		sky TAN "$one" | sed "$edit" | fitstoraw >a
		fails 1 'a: item 1: its cards give no places in the sky: ' rawtotext --positions --map a
	done
	sky ARC "$arc" "CPDIS1  = 'LOOKUP'" "$(number WCSAXES 9999999)" "$(number CRPIX999 1)" | fitstoraw |
		rawtotext --positions --map 2>err | grep -x '1 1 10 45 0'
	same err 'rawtotext: (stdin): item 1: places in the sky are without the tables of distortions'
}

@test "history names files, and the least and greatest sample are not those of another image" {
	fits 8 '3 1' "$(number DATAMIN 1)" "$(number DATAMAX 3)" -- C 1 2 3 >a.fits
	fitstoraw a.fits | rawtofits | cmp - a.fits
	printf 'P2 1 1 9 2\n' >k.pgm
	fitstoraw a.fits | wconv -k /dev/fd/9 9<k.pgm | rawtofits | has "HISTORY:=wconv -k $PWD/k.pgm"
	fitstoraw a.fits | wconv -k <(cat k.pgm) | rawmath 'a*2' | rawtofits | has "HISTORY:=wconv -k '(pipe)'" "HISTORY:=rawmath 'a*2'"
	run -1 grep DATAM said.head
}
