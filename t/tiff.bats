load lib

# tifftoraw and rawtotiff: pages of TIFF files in and out.

# py <<-END: Python with these names, where it has them.
py() {
	/usr/bin/python3 -c 'import tifffile' 2>/dev/null || skip "python3-tifffile is not installed"
	{ echo 'import numpy as np, subprocess, tifffile' && cat; } | /usr/bin/python3 -
}

# there_and_back ITEM [OPTION ...]: the samples and the header come back, but for the history.
there_and_back() {
	local item=$1
	shift
	rawtotiff "$@" "$item" >back.tif && tifftoraw back.tif >back
	for f in "$item" back; do
		rawinfo "$f" | grep -v -e '^#' -e history -e endian -e axis -e centers -e maxval -e ImageDescription >"head.${f##*/}"
	done
	diff "head.$item" head.back && cmp <(rawtotext "$item") <(rawtotext back)
}

# write_tiff NAME BYTE-ORDER WIDTH BITS FORMAT BYTES [TAG=VALUE,... ...]: a page of one row, by Python, from the bytes in hexadecimal.
write_tiff() {
	command -v /usr/bin/python3 || skip "python3 is not installed"
	/usr/bin/python3 - "$@" <<-'END'
		import struct, sys
		name, order, w, bits, form, data = sys.argv[1:7]
		c, data = '<' if order == 'II' else '>', bytes.fromhex(data)
		tags = {256: [int(w)], 257: [1], 258: [int(bits)], 259: [1], 262: [1], 273: [8], 277: [1], 278: [1], 279: [len(data)], 339: [int(form)]}
		tags.update((int(t), [int(v) for v in v.split(',')]) for t, v in (a.split('=') for a in sys.argv[7:]))
		long = b''.join(struct.pack(f'{c}{len(v)}H', *v) for t, v in sorted(tags.items()) if len(v) > 2)
		at, out = 8 + len(data), struct.pack(c + 'H', len(tags))
		for t, v in sorted(tags.items()):
		    out += struct.pack(c + 'HHI', t, 3, len(v))
		    out += struct.pack(f'{c}{len(v)}H', *v).ljust(4, b'\0') if len(v) < 3 else struct.pack(c + 'I', at)
		    at += 2 * len(v) * (len(v) > 2)
		start = 8 + len(data) + len(long)
		open(name, 'wb').write(order.encode() + struct.pack(c + 'HI', 42, start) + data + long + out + bytes(4))
	END
}

# reads FILE TYPE SAMPLES [WORD...]: the page of one row has the type and these samples. With words, write_tiff makes it of them.
reads() {
	[ $# -eq 3 ] || write_tiff "$1" "${@:4}"
	tifftoraw "$1" >a
	rawinfo a | grep -x "type: $2" && same <(rawtotext a | paste -sd ' ') "$3"
}

@test "all types and codecs come back, in strips and in tiles; colour, planes, complex samples and one row, too" {
	for type in char uchar short ushort int uint int64 uint64 float double; do
		gen --type=$type values 37x5 $(seq 1 120) $(seq 65) >a
		for options in '' --compress=deflate --compress=lzw --compress=zstd --tile=16 '--tile=32 --compress=deflate' --bigtiff; do
			there_and_back a $options
		done
	done
	while IFS=, read -r type sizes kinds options; do
		item "$type" "$sizes" "kinds: $kinds" -- {1..24} >a
		there_and_back a $options
	done <<-'END'
		uchar,3 4 2,RGB-color domain domain,
		uchar,3 4 2,RGB-color domain domain,--tile=16
		ushort,4 3 2,RGBA-color domain domain,
		float,2 3 4,complex domain domain,
	END
	gen noise 1 1 | pgmtoraw | sed /^maxval/d >a
	there_and_back a
	gen noise --maxval=1 9 7 | pgmtoraw >a
	there_and_back a
	! command -v tiffinfo || tiffinfo back.tif 2>/dev/null | grep 'Bits/Sample: 1'
}

@test "a stack keeps its axes, distances and units" {
	item float '2 2 2 3 2' 'kinds: domain domain list domain domain' 'spacings: .25 .25 nan 1.5 .5' \
		'labels: "x" "y" "c" "z" "t"' 'units: "um" "um" "" "um" "s"' -- $(seq 48) >a
	there_and_back a
	py <<-'END'
		t = tifffile.TiffFile('back.tif')
		m = t.imagej_metadata
		assert (m['channels'], m['slices'], m['frames'], m['spacing'], m['unit']) == (2, 3, 2, 1.5, 'um'), m
		a = t.asarray()
		assert a.shape == (2, 3, 2, 2, 2) and (a.ravel() == np.arange(1, 49)).all(), a.shape
		x = t.pages[0].tags['XResolution'].value
		assert x[0] / x[1] == 4
	END
}

@test "alpha, premultiplied or not, and other planes keep their meaning" {
	py <<-'END'
		cases = [('rgb', [1], 4, 'RGBA-color'), ('rgb', [2], 4, 'RGBA-color'), ('rgb', [0], 4, 'vector'), ('rgb', [1, 0], 5, 'vector'),
		         ('rgb', None, 3, 'RGB-color'), ('minisblack', [1], 2, 'vector'), ('minisblack', [0, 0, 0], 4, 'vector'), ('minisblack', [0, 0, 2], 4, 'RGBA-color'),
		         ('minisblack', [0, 0], 3, 'vector'), ('separated', [2], 5, 'vector')]
		for colour, extra, planes, kind in cases:
		    a = np.arange(planes * 6, dtype='u1').reshape(2, 3, planes)
		    tifffile.imwrite('a.tif', a, photometric=colour, extrasamples=extra, planarconfig='contig')
		    subprocess.run(f'tifftoraw a.tif | tee a | rawtotiff >b.tif && grep -a "^kinds: {kind} " a', shell=True, check=True)
		    p, q = (tifffile.TiffFile(name).pages[0] for name in ('a.tif', 'b.tif'))
		    assert p.photometric == q.photometric and p.extrasamples == q.extrasamples, (colour, extra, q.photometric, q.extrasamples)
		    assert (p.asarray() == q.asarray()).all()
	END
	# Without ExtraSamples, tag 338, nobody knows what the fourth plane is; without PhotometricInterpretation, tag 262, three are RGB.
	write_tiff b.tif II 1 8 1 01020304 258=8,8,8,8 277=4 262=2
	tifftoraw b.tif | rawtotiff | tifftoraw | says 'kinds: vector domain domain' tiff.photometric:=2
	item uchar '4 2 1' 'kinds: RGBA-color domain domain' -- 1 2 3 4 5 6 7 8 | rawtotiff | tifftoraw | run -1 grep -a extrasamples
	rawtotiff <(item uchar '3 2 1' 'kinds: RGB-color domain domain' -- 1 2 3 4 5 6) >c.tif
	LC_ALL=C sed 's/\x06\x01\x03\x00\x01/\x06\xe1\x03\x00\x01/' c.tif >none.tif
	tifftoraw none.tif | says 'kinds: RGB-color domain domain'
}

@test "alpha weighs colours where the page says that it is alpha, and premultiplied ones are divided by it" {
	# Near infrared beside RGB is a plane like the others: a picture of four colours does not change.
	pixels='40 60 40 0  42 62 41 0  200 190 180 90  60 120 50 220'
	write_tiff nir.tif II 4 8 1 "$(printf %02x $pixels)" 258=8,8,8,8 277=4 262=2 338=0
	tifftoraw nir.tif | rawpalette --colours=4 | rawtotext | paste -sd' ' | tr -s ' ' | cmp - <(echo $pixels)
	write_tiff five.tif II 1 8 1 0102030405 258=8,8,8,8,8 277=5 262=2 338=0,2
	tifftoraw five.tif | rawpalette --colours=2 2>&1 >/dev/null | grep -F 'item 1: the plane of alpha counts like the others; rawaxes --crop=0:... leaves it out'
	# Two clear pixels, 90 and 30: gray with alpha, as PAM has it. MinIsWhite turns the gray alone.
	for white in 0 1; do
		gray=(10 0 200 0 90 255 30 255)
		for i in 0 2 4 6; do ((white)) || gray[i]=$((255 - gray[i])); done
		write_tiff gray.tif II 4 8 1 "$(printf %02x "${gray[@]}")" 258=8,8 277=2 262=$white 338=2
		tifftoraw gray.tif | tee a | rawpalette --colours=3 | rawtotext | paste -sd' ' | cmp - <(echo 0 0 0 0 90 255 30 255)
		rawtopnm a | head -7 | grep -ax 'TUPLTYPE GRAYSCALE_ALPHA'
		rawtopnm a | pgmtoraw | rawtotiff | tifftoraw | says tiff.extrasamples:=2 tupltype:=GRAYSCALE_ALPHA
	done
	rawaxes --crop=0:1:2 a | run -1 grep -a tupltype
	# Half of 100 40 20 is 50 20 10: PAM and the palette have the colours, TIFF what it had.
	write_tiff half.tif II 2 8 1 32140a80ff0000ff 258=8,8,8,8 277=4 262=2 338=1
	tifftoraw half.tif >a
	rawtopnm a | tee b | rawtotext | cmp - <(printf '100 40 20 128\n255 0 0 255\n')
	grep -ax 'TUPLTYPE RGB_ALPHA' b
	rawmath --type=float 'a / 255' a | rawtopnm --range=0:1 | rawtotext | cmp - <(rawtotext b)
	rawpalette --colours=2 a | rawtotext | cmp - <(rawtotext b)
	rawpalette --colours=2 a | rawtotiff | tifftoraw | says 'kinds: RGBA-color domain domain'
	rawtotiff a | tifftoraw | says tiff.extrasamples:=1
	rawmath --pnm --type=uchar a a 2>&1 >/dev/null | grep -F "PAM's colours are not premultiplied, and these are; rawtopnm makes them so"
}

@test "each plane of complex samples is a picture of its own" {
	py <<-'END'
		a = (np.arange(24) + 1j * np.arange(100, 124)).reshape(3, 4, 2).astype('c8')
		np.save('a.npy', np.moveaxis(a, 2, 0))
		for how in 'contig', 'separate':
		    for tile in None, (16, 16):
		        tifffile.imwrite(f'{how}{tile}.tif', a if how == 'contig' else np.moveaxis(a, 2, 0), photometric='minisblack',
		            planarconfig=how, tile=tile, byteorder='>', metadata=None)
		tifffile.imwrite('two.tif', np.stack([a, a + 1]), photometric='minisblack', planarconfig='contig', metadata=None)
	END
	for f in contig*.tif separate*.tif; do
		tifftoraw "$f" | tee a | says 'sizes: 2 4 3 2'
		rawinfo a | grep -x 'kinds: complex domain domain domain'
		cmp <(rawtotext a) <(rawtotext a.npy)
	done
	tifftoraw two.tif | says 'sizes: 2 4 3 2 2'
	tifftoraw two.tif | rawaxes --slice=4:0 | rawtotext | cmp - <(rawtotext a.npy)
	rawtotiff a | tifftoraw | rawtotext | cmp - <(rawtotext a.npy)
}

@test "floats of 24 bits, complex integers and integers of any length keep their values" {
	reads a.tif float '1 -2.5 inf 3.3087225e-24 15.999878' II 5 24 3 00003f0040c000007f010000ffff42
	reads a.tif float '1 -2.5 inf 3.3087225e-24 15.999878' MM 5 24 3 3f0000c040007f000000000142ffff
	reads a.tif 'signed char' '7 -8 -7 0' MM 4 4 2 7890
	reads a.tif short '2047 -2048' II 2 12 2 7ff800
	run -1 grep -a maxval a
	reads a.tif int '-2 3' II 2 24 2 fffffe000003
	# Samples of 24 bits are packed highest bit first in both byte orders, as TIFF 6.0 says.
	for order in II MM; do
		reads a.tif uint '1 2 66051 16777214' $order 4 24 1 000001000002010203fffffe
	done
	reads a.tif float '-2 4 -1 0' II 2 32 5 feff0400ffff0000
	says 'kinds: complex domain domain' <a
	rawtotiff a | tifftoraw | rawtotext | cmp - <(rawtotext a)
	reads a.tif double '-3 1' II 1 64 5 fdffffff01000000
}

@test "planes beside a palette follow its colours" {
	local map
	map=$(perl -e 'print join ",", map { my $k = $_; map { 257 * (($_ + 10 * $k) % 256) } 0 .. 255 } 0 .. 2')
	# two pixels: index 1 and alpha 7, index 255 and alpha 9
	reads a.tif uchar '1 11 21 7 255 9 19 9' II 2 8 1 0107ff09 258=8,8 339=1,1 277=2 262=3 338=2 320="$map"
	rawinfo a | grep -x 'kinds: RGBA-color domain domain'
	reads b.tif uchar '1 11 21 7 255 9 19 9' II 2 8 1 01ff0709 258=8,8 339=1,1 277=2 262=3 338=1 284=2 273=8,10 279=2,2 320="$map"
	rawinfo a | grep -x 'tiff.extrasamples:=1'
	tifftoraw --indices a.tif >c
	same <(rawtotext c | paste -sd ' ') '1 7 255 9'
	rawtotiff c >d.tif
	reads d.tif uchar '1 11 21 7 255 9 19 9'
	tifftoraw --indices d.tif | rawinfo | grep '^tiff.ColorMap:=0,2570,5140 257,'
}

@test "the layout that is refused is named, and samples that are damaged" {
	write_tiff a.tif II 2 12 3 030405
	fails 1 'a.tif: page 0: its samples are floats of 12 bits, which are not supported' tifftoraw a.tif
	# a facsimile of three samples a pixel: the two others would be what the memory held
	write_tiff a.tif II 8 1 1 3510 259=4 258=1,1,1 277=3 262=2
	fails 1 'its compression (CCITT Group 4) holds one sample of a pixel, and its pixels have 3' tifftoraw a.tif
	write_tiff a.tif II 2 8 1 0304 259=34712
	fails 1 'its compression 34712 (JPEG 2000) is none' tifftoraw a.tif
	# a facsimile that ends after 4 of 16 pixels
	write_tiff a.tif II 16 1 1 b0 259=2 262=0
	tifftoraw a.tif 2>said >/dev/null || true
	grep 'its samples are damaged: ' said
	# the next page is far behind the end of the file
	write_tiff a.tif II 2 8 1 0304
	head -c -4 a.tif >b.tif
	printf '\0\0\0\1' >>b.tif
	fails 1 'b.tif: page 1: ' tifftoraw b.tif
}

@test "a resolution that axes do not state comes back: one without a unit, and that of a map" {
	py <<-'END'
		a, here = np.zeros((4, 6), 'u1'), dict(resolutionunit='NONE', metadata=None)
		for name, r, o in ('fax', (204, 98), 1), ('square', (72, 72), 1), ('turned', (204, 98), 6):
		    tifffile.imwrite(name + '.tif', a, resolution=r, extratags=[(274, 'H', 1, o, True)], **here)
		tifffile.imwrite('map.tif', a, resolution=(300, 300), resolutionunit='INCH', metadata=None, extratags=[
		    (33550, 'd', 3, (10, 10, 0), True), (33922, 'd', 6, (0, 0, 0, 1000, 2000, 0), True)])
	END
	for f in square fax turned map; do
		tifftoraw $f.tif >$f
		run -1 grep -a ^units $f
		rawtotiff $f >$f.back.tif
		tifftoraw $f.back.tif | cmp - $f
	done
	# Without a unit, it says how wide pixels are.
	rawinfo fax | grep -x 'spacings: 1 2.08163.*'
	rawinfo turned | grep -x 'spacings: 1 0.48039.*'
	run -1 grep -a ^spacings square
	rawaxes --order=1,0 fax | rawtotiff >swapped.back.tif
	rawaxes --crop=0:1:3 --flip=1 square | rawtotiff >cut.back.tif
	py <<-'END'
		for f, u, x, y in (('square', 1, 72, 72), ('fax', 1, 204, 98), ('map', 2, 300, 300), ('swapped', 1, 98, 204), ('cut', 1, 72, 72)):
		    t = tifffile.TiffFile(f + '.back.tif').pages[0].tags
		    got = [t[k].value[0] / t[k].value[1] for k in ('XResolution', 'YResolution')]
		    assert t['ResolutionUnit'].value == u and abs(got[0] - x) < 1e-4 and abs(got[1] - y) < 1e-4, (f, got)
	END
}

@test "tifffile's and ImageJ's stacks come with their distances, those of one directory too" {
	py <<-'END'
		a = np.arange(2 * 3 * 5 * 7, dtype='u2').reshape(3, 2, 5, 7)
		meta = {'axes': 'ZCYX', 'spacing': 2.5, 'unit': 'um'}
		tifffile.imwrite('a.tif', a, imagej=True, resolution=(4, 8), metadata=meta)
		tifffile.imwrite('b.tif', a, imagej=True, resolution=(4, 8), metadata={**meta, 'truncate': True})
		tifffile.imwrite('c.tif', a, imagej=True, byteorder='>', truncate=True, resolution=(4, 8), metadata=meta)
		tifffile.imwrite('o.ome.tif', a, metadata={'axes': 'ZCYX', 'PhysicalSizeX': .25, 'PhysicalSizeY': .125,
		    'PhysicalSizeZ': 2.5}, compression='deflate', tile=(16, 16))
		np.save('a.npy', a)
	END
	for f in a.tif c.tif o.ome.tif; do
		tifftoraw $f >a
		says 'sizes: 7 5 2 3' 'spacings: 0.25 0.125 nan 2.5' 'units: "um" "um" "" "um"' 'labels: "x" "y" "c" "z"' <a
		cmp <(rawtotext a) <(rawtotext a.npy)
		rawtotiff a | tifftoraw | rawtotext | cmp - <(rawtotext a.npy)
	done
}

@test "ImageJ's axes of pages lie in the order that it states" {
	py <<-'END'
		for name in 'czt', 'ctz', 'zct', 'ztc', 'tcz', 'tzc', 'default':
		    order, n = name if len(name) == 3 else 'czt', dict(c=2, z=3, t=4)
		    a = np.arange(24 * 2, dtype='u1').reshape(24, 1, 2)
		    text = f'ImageJ=1.54f\nimages=24\nchannels=2\nslices=3\nframes=4\nhyperstack=true\norder={name}\n'
		    tifffile.imwrite('a.tif', a, metadata=None, description=text, photometric='minisblack')
		    run = lambda c: subprocess.run(c, shell=True, check=True, capture_output=True, text=True).stdout
		    head = run('tifftoraw a.tif | tee a | rawinfo')
		    assert 'sizes: 2 1 ' + ' '.join(str(n[k]) for k in order) + '\n' in head, head
		    assert 'labels: "x" "y" ' + ' '.join(f'"{k}"' for k in order) + '\n' in head, head
		    assert run('rawtotext a').split() == [str(i) for i in range(48)]
		    assert run('rawtotiff a | tifftoraw | rawtotext') == run('rawtotext a')
		    assert tifffile.TiffFile('a.tif').series[0].axes == order[::-1].upper() + 'YX'
		tifffile.imwrite('a.tif', a, metadata=None, description=text.replace('slices=3', 'slices=4'))
	END
	tifftoraw a.tif 2>said | says 'sizes: 2 1 24'
	same said 'tifftoraw: a.tif: page 0: its description has 32 planes, and 24 pages are there; they lie along one axis'
}

# described PAGES TEXT: a file of so many pages, of the samples 0, 1, 2 ..., with this description on stdout. It takes the place of
# another of its length.
described() {
	for ((i = 0; i < $1; i++)); do item uchar '2 1' "tiff.ImageDescription:=$(printf '%*s' ${#2} '' | tr ' ' x)" -- $i $i; done |
		rawtotiff | TEXT=$2 perl -0777 -pe 's/x{20,}/$ENV{TEXT}/e'
}

# ome IMAGE...: for each IMAGE, "ORDER C Z T TiffData-attributes;...", an <Image>.
ome() {
	local order c z t data id=0
	printf '<?xml version="1.0"?><!-- <Pixels> --><o:OME xmlns:o="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="urn:a"><o:Plate/>'
	while read -r order c z t data; do
		data=$(tr ';' '\n' <<<"$data" | sed -e '/^-$/d' -e 's,\(.*\)|\(.*\)|\(.*\),<o:TiffData \1><o:UUID FileName="\2">\3</o:UUID></o:TiffData>,;t' \
			-e 's,.*,<o:TiffData &/>,')
		printf '<o:Image ID="Image:%d" Name="a>b"><o:Pixels DimensionOrder="%s" SizeX="2" SizeY="1" SizeC="%d" SizeZ="%d" SizeT="%d" %s>%s</o:Pixels></o:Image>' \
			$id "$order" "$c" "$z" "$t" "Type=\"uint8\" PhysicalSizeZ=\"$((id + 2))\"" "$data"
		((++id))
	done < <(printf '%s\n' "$@")
	printf '</o:OME>'
}

@test "planes lie where ImageJ's order and OME's TiffData put them" {
	while IFS=@ read -r sizes samples said images; do
		IFS=+ read -ra image <<<"$images"
		case $images in
		ImageJ* | '<'*) described 6 "${images//;/$'\n'}" >a.tif ;;
		*) described 6 "$(ome "${image[@]}")" >a.tif ;;
		esac
		tifftoraw a.tif >a 2>stderr
		grep -x "sizes: .*" <(rawinfo a) | paste -sd, | grep -Fx "$sizes"
		same <(rawtotext a | cut -d' ' -f1 | grep . | paste -sd' ') "$samples"
		if [ "$said" ]; then grep -F "tifftoraw: a.tif: $said" stderr; else cmp stderr /dev/null; fi
		# What is written again has the same planes in the same places.
		[[ $sizes == *,* ]] && continue
		rawtotiff --quiet a | tifftoraw >b
		cmp <(rawtotext a) <(rawtotext b)
		diff <(rawinfo a | grep -E '^(sizes|spac)') <(rawinfo b | grep -E '^(sizes|spac)')
	done <<-'END'
		sizes: 2 1 3 2@0 1 2 3 4 5@@ImageJ=1.54f;images=6;channels=2;slices=3;order=zct;
		sizes: 2 1 2 3@0 1 2 3 4 5@@ImageJ=1.54f;images=6;channels=2;slices=3;order=czt;
		sizes: 2 1 3 2@0 1 2 3 4 5@@<OME><Image><Pixels;DimensionOrder="XYZCT";SizeC="2";SizeZ="3";SizeT="1"><TiffData/></Pixels></Image></OME>
		sizes: 2 1 2 3@0 3 1 4 2 5@@XYCZT 2 3 1 IFD="0";FirstZ="1" IFD="1";FirstZ="2" IFD="2";FirstC="1" IFD="3";FirstC="1" FirstZ="1" IFD="4";FirstC="1" FirstZ="2" IFD="5"
		sizes: 2 1 4@5 0 0 3@page 3: 2 of 4 planes are not in the file@XYZCT 1 4 1 IFD="5" PlaneCount="1";FirstZ="3" IFD="3" PlaneCount="1"
		sizes: 2 1 3 2@0 1 2 3 4 5@@XYZCT 2 3 1 IFD="0" PlaneCount="6"
		sizes: 2 1 6@5 4 3 2 1 0@@XYZCT 1 6 1 FirstZ="0" IFD="5";FirstZ="1" IFD="4";FirstZ="2" IFD="3";FirstZ="3" IFD="2";FirstZ="4" IFD="1";FirstZ="5" IFD="0"
		sizes: 2 1 2 3@0 3 1 4 2 5@@XYCZT 2 3 1 FirstZ="0" IFD="0";FirstZ="1" IFD="1";FirstZ="2" IFD="2";FirstC="1" FirstZ="0" IFD="3";FirstC="1" FirstZ="1" IFD="4";FirstC="1" FirstZ="2" IFD="5"
		sizes: 2 1 3,sizes: 2 1 3@0 2 4 1 3 5@@XYZCT 1 1 3 IFD="0";IFD="2" FirstT="1";IFD="4" FirstT="2"+XYZCT 1 3 1 IFD="1";IFD="3" FirstZ="1";IFD="5" FirstZ="2"
		sizes: 2 1 2 4@0 1 2 3 0 5 0 0@page 0: 3 of 8 planes are not in the file, and hold no data@XYCZT 2 4 1 IFD="0" PlaneCount="4";IFD="5" FirstC="1" FirstZ="2"
		sizes: 2 1 4@0 1 2 3@2 pages are in no image of OME's description, and are left out; see --pages=items@XYCZT 1 4 1 IFD="0" PlaneCount="4"
		sizes: 2 1 6@0 1 2 3 4 5@@XYCZT 1 6 1 -
		sizes: 2 1 2@4 5@4 pages are in no image of OME's description@XYCZT 1 6 1 -+XYCZT 1 2 1 IFD="4" PlaneCount="2"
		sizes: 2 1 6@0 1 2 3 4 5@planes are in other files, such as b.tif; the pages of this one lie along one axis@XYCZT 1 6 1 IFD="0" PlaneCount="3"|b.tif|urn:b;FirstZ="3" IFD="3" PlaneCount="3"|a.tif|urn:a
	END
	described 1 "$(ome 'XYCZT 1 3000 3000 IFD="0"')" >big.tif
	fails 1 'exceeds the limit of' tifftoraw --max-bytes=1M --quiet big.tif
}

@test "tifffile's own descriptions give axes and distances, and series become items" {
	py <<-'END'
		a = np.arange(120, dtype='u2').reshape(2, 3, 4, 5)
		tifffile.imwrite('zyx.tif', a[0], metadata={'axes': 'ZYX', 'spacing': 2, 'unit': 'um'}, photometric='minisblack')
		tifffile.imwrite('q.tif', a, photometric='minisblack')
		tifffile.imwrite('run.tif', a, truncate=True, byteorder='>', metadata={'axes': 'TCYX'}, photometric='minisblack')
		with tifffile.TiffWriter('two.tif') as t:
		    t.write(a[0], photometric='minisblack')
		    t.write(a[0, 0, :2], photometric='minisblack')
		np.save('a.npy', a)
	END
	tifftoraw zyx.tif | says 'sizes: 5 4 3' 'labels: "x" "y" "z"' 'spacings: 1 1 2' 'units: "um" "um" "um"'
	for f in q.tif run.tif; do
		tifftoraw $f | tee a | says 'sizes: 5 4 3 2'
		cmp <(rawtotext a) <(rawtotext a.npy)
		rawtotiff a | tifftoraw | rawtotext | cmp - <(rawtotext a.npy)
	done
	tifftoraw run.tif | says 'labels: "x" "y" "c" "t"' 'kinds: domain domain list domain'
	tifftoraw q.tif | rawtotiff | tifftoraw | says 'sizes: 5 4 3 2'
	tifftoraw two.tif | rawinfo | grep sizes | paste -sd, | grep -x 'sizes: 5 4 3,sizes: 5 2'
	tifftoraw zyx.tif | rawaxes --crop=1:0:2 | rawtotiff >cut.tif
	py <<<"assert tifffile.TiffFile('cut.tif').series[0].axes == 'ZYX' and tifffile.imread('cut.tif').shape == (3, 2, 5)"
}

@test "OME's and ImageJ's descriptions follow the samples, or are left out" {
	py <<-'END'
		a = np.arange(3 * 4 * 2 * 5 * 7, dtype='u2').reshape(3, 4, 2, 5, 7)
		tifffile.imwrite('o.tif', a, ome=True, metadata={'axes': 'TZCYX', 'Channel': {'Name': ['DAPI', 'GFP']},
		    'SignificantBits': 12, 'TimeIncrement': 250, 'TimeIncrementUnit': 'ms'})
		tifffile.imwrite('j.tif', a, imagej=True, metadata={'axes': 'TZCYX', 'finterval': 250, 'tunit': 'ms'})
	END
	for f in o.tif j.tif; do
		tifftoraw $f | rawinfo | grep -x 'spacings: nan nan nan nan 0.25'
		tifftoraw $f | rawaxes --order=0,1,3,2,4 2>/dev/null >swapped
		rawtotiff swapped >swapped.tif
		tifftoraw swapped.tif | says 'labels: "x" "y" "z" "c" "t"' && tifftoraw swapped.tif | rawtotext | cmp - <(rawtotext swapped)
	done
	rawaxes --order=0,1,4,2,3 swapped | rawtotiff 2>&1 >/dev/null | grep -F 'tifffile reads the order tzc of the axes of pages, and ImageJ does not'
	item uchar '2 1 2 2 2' 'labels: "x" "y" "z" "c" "z"' -- {1..8} | rawtotiff 2>&1 >/dev/null | grep 'no place for the order of the axes'
	tifftoraw o.tif | rawaxes --crop=0:2:6 --crop=1:1:4 | rawmath --type=float 'a / 2' | remarks '' rawtotiff >part.tif
	tifftoraw o.tif | rawaxes --slice=2:1 | remarks "rawtotiff: OME's description is no longer true, and is left out with what it says of channels" rawtotiff >one.tif
	py <<-'END'
		t = tifffile.TiffFile('part.tif')
		a, b = tifffile.imread('o.tif')[..., 1:4, 2:6] / 2, t.series[0]
		assert b.axes == 'TZCYX' and b.dtype == 'f4' and b.shape == a.shape and (b.asarray() == a).all()
		for text in 'Type="float"', 'SizeX="4"', 'SizeY="3"', 'Name="GFP"':
		    assert text in t.ome_metadata, t.ome_metadata
		assert tifffile.TiffFile('one.tif').series[0].axes == 'TZYX'
	END
	tifftoraw o.tif | rawtotiff | tifftoraw | cmp - <(tifftoraw o.tif)
}

@test "tags of other programs come back, or are named" {
	py <<-'END'
		a = np.arange(2 * 5 * 7, dtype='u2').reshape(2, 5, 7)
		for name, order in ('little', '<'), ('big', '>'):
		    tifffile.imwrite(name + '.tif', a.astype(order + 'u2'), imagej=True, byteorder=order,
		        metadata={'axes': 'ZYX', 'Labels': ['one', 'two'], 'Info': 'who'})
		# Newer versions of tifffile leave out the place of EXIF, so another tag is written and becomes that.
		other, exif = (n.to_bytes(2, 'little') + bytes((4, 0, 1, 0, 0, 0)) for n in (34664, 34665))
		tifffile.imwrite('x.tif', a[0], metadata=None, extratags=[(700, 1, 3, b'<x>', True), (65003, 2, 0, 'Beam=5', True),
		    (65001, 3, 2, (7, 65535), True), (34664, 4, 1, 8, True), (65002, 12, 1, .5, True)])
		x = open('x.tif', 'rb').read()
		assert x.count(other) == 1
		open('x.tif', 'wb').write(x.replace(other, exif))
	END
	remarks 'tifftoraw: x.tif: tags are left out: 34665 65002' tifftoraw x.tif >x
	rawtotiff x >y.tif
	py <<-'END'
		tags = tifffile.TiffFile('y.tif').pages[0].tags
		assert tags[700].value == b'<x>' and tags[65003].value == 'Beam=5' and tags[65001].value == (7, 65535), tags
	END
	# ImageJ itself writes big-endian files, and its labels have their byte order.
	for order in little big; do
		tifftoraw $order.tif | rawtotiff >same.tif
		tifftoraw $order.tif | rawtotiff --compress=deflate >packed.tif
		tifftoraw $order.tif | rawmath --type=float 'a * 2' | rawtotiff >twice.tif
		tifftoraw $order.tif | rawaxes --crop=2:0:1 | rawtotiff >cut.tif
		py <<-'END'
			for f in 'same', 'packed', 'twice':
			    t = tifffile.TiffFile(f + '.tif')
			    m = t.imagej_metadata
			    assert m['Labels'] == ['one', 'two'] and m['Info'] == 'who', (f, m)
			    assert (t.asarray() == np.arange(2 * 5 * 7).reshape(2, 5, 7) * (1 + (f == 'twice'))).all(), f
			assert 'Labels' not in (tifffile.TiffFile('cut.tif').imagej_metadata or {})
		END
	done
	item uchar '2 1' 'tiff.tag.65001:=3 x' 'tiff.tag.65002:=1 0' 'tiff.tag.257:=3 9' 'tiff.tag.700:=3 1' -- 1 2 >bad
	rawtotiff bad | tifftoraw | rawtotext | cmp - <(echo 1 2)
}

@test "each character of a text comes back" {
	py <<-'END'
		for tag, text in (270, 'one\r\ntwo\rthree\n\\r four\\'), (305, 'a\r\nb'), (42112, '<GDALMetadata>\r\n<Item name="a">b</Item>\r\n</GDALMetadata>'):
		    tifffile.imwrite('a.tif', np.zeros((2, 3), 'u1'), metadata=None, software=False, extratags=[(tag, 2, 0, text, True)])
		    subprocess.run('tifftoraw a.tif | rawtotiff >b.tif', shell=True, check=True)
		    assert tifffile.TiffFile('b.tif').pages[0].tags[tag].value == text
	END
}

@test "tags of other types, or of fixed length, are not written from keys" {
	for key in '65003:=12 01' '65004:=0 01' '338:=3 9' '321:=3 9'; do
		item uchar '2 1' "tiff.tag.$key" -- 1 2 >bad
		rawtotiff bad | remarks '' tifftoraw >x
		run -1 grep -a 'tiff\.tag' x
	done
}

@test "a malformed key makes no tag, and is named" {
	local key
	for key in tiff.photometric:=5x tiff.photometric:=-2 tiff.photometric:=65541 tiff.extrasamples:=1,x tiff.ColorMap:=1,2,3,4 \
		tiff.ColorMap:=1,2,65536 tiff.ColorMap:=1,2,-3 tiff.MaxSampleValue:=4294967297 tiff.SMinSampleValue:=2x 'geotransform:=0 1 0 9 0 -1 5' \
		'geotransform:=0 1 0 9 0 -1x' 'geotransform:=0 1 0 nan 0 -1' 'geotiff.keys:=1 1 0 65537' crs:=EPSG:4326x crs:=EPSG:69868 crs:=4326 \
		'tiff.tag.65001:=3 65536' 'tiff.tag.65001:=4 4294967296' 'tiff.tag.65001:=3 -1' 'tiff.tag.65001:=1 0g' tiff.tag.4294967297:=3; do
		item uchar '2 1 1' 'kinds: vector space space' "$key" -- 1 2 | rawtotiff 2>said | tifftoraw >a
		[[ $(cat said) == "rawtotiff: $key "*" left out" ]]
		if grep -a "^${key%%:=*}:=" a; then false; fi
	done
	item uchar '4 1 1' 'kinds: vector space space' tiff.photometric:=5 'tiff.tag.65001:=3 65535' crs:=EPSG:32633 -- 1 2 3 4 | rawtotiff 2>said | tifftoraw >a
	[ "$(grep -acxe tiff.photometric:=5 -e 'tiff.tag.65001:=3 65535' -e crs:=EPSG:32633 a)" -eq 3 ] && [ ! -s said ]
}

@test "bits, planes, palettes, halves, big-endian files and orientations are read as tifffile and Pillow read them" {
	/usr/bin/python3 -c 'import PIL' 2>/dev/null || skip "python3-pil is not installed"
	py <<-'END'
		from PIL import Image
		rng = np.random.default_rng(2)
		a = rng.integers(0, 65535, (21, 19, 3)).astype('u2')
		tifffile.imwrite('planar.tif', a.transpose(2, 0, 1), planarconfig='separate', photometric='rgb')
		np.save('planar.npy', a)
		h = rng.standard_normal((9, 8)).astype('f2')
		tifffile.imwrite('half.tif', h); np.save('half.npy', h.astype('f4'))
		d = rng.standard_normal((9, 8))
		tifffile.imwrite('double.tif', d, byteorder='>'); np.save('double.npy', d)
		tifffile.imwrite('white.tif', a[..., 0], photometric='miniswhite'); np.save('white.npy', 65535 - a[..., 0])
		p = Image.fromarray((a >> 8).astype('u1')).quantize(16)
		p.save('palette.tif'); np.save('palette.npy', np.asarray(p.convert('RGB')))
		b = Image.fromarray(a[..., 0] > 30000); b.save('bits.tif'); np.save('bits.npy', np.asarray(b).astype('u1'))
		g = Image.fromarray((a[..., 0] >> 8).astype('u1'))
		turned = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
		    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
		    8: Image.Transpose.ROTATE_90}
		for o, how in turned.items():
		    g.save(f'turn{o}.tif', tiffinfo={274: o}); np.save(f'turn{o}.npy', np.asarray(g.transpose(how)))
	END
	for f in *.tif; do
		cmp <(tifftoraw "$f" | rawtotext) <(rawtotext "${f%.tif}.npy") || { echo "$f" && return 1; }
	done
}

@test "--indices keeps a palette's indices, and rawtotiff writes the palette again" {
	py <<-'END'
		a = np.array([[0, 1, 2], [7, 3, 255]], 'u1')
		map = np.zeros((3, 256), 'u2'); map[:, 1] = 65535, 0, 257; map[:, 255] = 1, 2, 3
		tifffile.imwrite('map.tif', a, photometric='palette', colormap=map, extratags=[(42113, 's', 2, '7', True)])
	END
	remarks 'tifftoraw: map.tif: 1 samples have the value 7 of missing ones and stay numbers; see --nan' tifftoraw --indices map.tif >a
	lines <(rawtotext a) '0 1 2/7 3 255'
	rawinfo a | grep '^tiff.ColorMap:=0,0,0 65535,0,257 0,0,0 .* 1,2,3$'
	rawaxes --flip=0 a | rawtotiff --compress=deflate >b.tif
	py <<-'END'
		t, u = tifffile.TiffFile('map.tif').pages[0], tifffile.TiffFile('b.tif').pages[0]
		assert u.photometric.name == 'PALETTE' and (t.colormap == u.colormap).all()
		assert (u.asarray() == t.asarray()[:, ::-1]).all() and u.tags[42113].value.startswith('7')
	END
	# Colours have no value for missing samples, and samples that are no indices have no palette.
	remarks 'tifftoraw: map.tif: the missing index 7 becomes a colour; see --indices' tifftoraw map.tif >a
	run -1 grep -a nodata a
	rawtotext a | head -n 2 | tail -n 1 | grep -x '65535 0 257'
	tifftoraw --indices --nan map.tif | rawtotiff | tifftoraw | says 'type: float'
	item uchar '2 1' 'tiff.ColorMap:=1,2' -- 1 2 | rawtotiff | tifftoraw --indices | rawtotext | grep -x '1 2'
}

@test "small copies and masks are counted, and a mask makes NaN" {
	py <<-'END'
		def write(name, *pages): # (picture, the tag NewSubfileType) ...
		    with tifffile.TiffWriter(name) as t:
		        for a, kind in pages:
		            t.write(a, subfiletype=1, photometric='rgb' if a.ndim > 2 else 'minisblack')
		    with tifffile.TiffFile(name, mode='r+b') as t:
		        for page, (a, kind) in zip(t.pages, pages):
		            page.tags[254].overwrite(kind)
		a, b = np.zeros((8, 8), 'u1'), np.arange(1, 13, dtype='u1').reshape(2, 2, 3)
		m, n = np.array([[1, 1], [0, 1]], 'u1'), np.zeros((2, 1), 'u1')
		write('a.tif', (a, 0), (a[:4, :4], 1), (a, 4), (a[:4, :4], 5))
		write('b.tif', (b, 0), (m, 4))
		write('c.tif', (b, 0), (m, 4), (b, 0), (n, 4), (b, 0))
	END
	tifftoraw a.tif 2>said | says 'sizes: 8 8'
	same said 'tifftoraw: a.tif: 2 small copies are left out
tifftoraw: a.tif: 1 masks of missing pixels are left out; see --nan'
	tifftoraw --nan b.tif >c
	lines <(rawtotext c) '1 2 3/4 5 6/nan nan nan/10 11 12'
	rawinfo c | grep -x 'nodata:=nan'
	rawtotiff c | tifftoraw | rawtotext | cmp - <(rawtotext c)
	# Each page of a stream has its own mask; one of another size is named and left out.
	tifftoraw --pages=items --nan c.tif 2>said | rawtotext | grep -c nan | grep -x 1
	same said 'tifftoraw: c.tif: page 3: this mask does not fit the page before it, and is left out'
}

@test "tiles that a sparse file leaves out are missing samples" {
	for nodata in '' nodata:=-9; do
		item float '40 20' ${nodata:+"$nodata"} -- $(seq 800) | rawtotiff --tile=16 >a.tif
		# Tag 324 holds the offsets of the six tiles, and 325 their bytes, as longs (4) or shorts (3). The second tile loses both.
		perl -e 'undef $/; $_ = <>; for my $tag (324, 325) {
			for my $type (3, 4) {
				my $entry = index($_, pack("vvV", $tag, $type, 6));
				next if $entry < 0;
				my $size = $type == 3 ? 2 : 4;
				substr($_, unpack("V", substr($_, $entry + 8, 4)) + $size, $size) = "\0" x $size } }
			print' a.tif >b.tif
		remarks 'tifftoraw: b.tif: page 0: 1 tiles are not in the file, and hold no data' tifftoraw b.tif >b
		rawaxes --crop=0:16:32 --crop=1:0:16 b | rawtotext | tr ' ' '\n' | sort -u >values
		same values "$([ "$nodata" ] && echo nan || echo 0)"
		rawaxes --crop=0:0:16 b | rawtotext | cmp - <(tifftoraw a.tif | rawaxes --crop=0:0:16 | rawtotext)
	done
}

@test "pages of different shapes are a stream, if asked" {
	gen noise 5 4 >a.pgm
	gen noise 3 9 >b.pgm
	rawtotiff a.pgm b.pgm >ab.tif
	fails 1 'ab.tif: page 1 differs in shape or type from page 0; see --pages=items' tifftoraw ab.tif
	tifftoraw --pages=items ab.tif | rawtopnm | cmp - <(cat a.pgm b.pgm)
	rawtotiff a.pgm a.pgm | tifftoraw | says 'sizes: 5 4 2'
}

@test "a map keeps its place, and so does a part of it" {
	item float '4 3' 'spacings: 1 1' 'axis mins: 0 0' 'geotransform:=1000 10 0 2000 0 -10' 'crs:=EPSG:32633' 'nodata:=-99' -- \
		1 2 3 4 5 nan 7 8 9 10 11 12 >a
	rawtotiff a | tifftoraw >b
	says 'geotransform:=1000 10 0 2000 0 -10' crs:=EPSG:32633 nodata:=-99 'axis mins: 0 0' <b
	cmp <(rawtotext a) <(rawtotext b)
	item float '2 1' 'geotransform:=1 2 3 4 5 6' -- 1 2 | rawtotiff | tifftoraw | says 'geotransform:=1 2 3 4 5 6'
	# Only the key says where the map lies.
	item short '4 3' 'geotransform:=1000 10 0 2000 0 -10' -- {1..12} >c
	for f in b c; do
		rawtile --size=2x2 --only=3 $f | rawtotiff | tifftoraw | says 'geotransform:=1020 10 0 1980 0 -10'
		rawaxes --crop=0:1:3 $f | rawtotiff | tifftoraw | says 'geotransform:=1010 10 0 2000 0 -10'
		rawaxes --flip=1 $f | rawtotiff | tifftoraw | says 'geotransform:=1000 10 0 1970 0 10'
	done
	rawaxes --slice=1:2 c >d
	run -1 grep -a mins d
}

@test "maps of different places are named when they are combined" {
	item float '4 3' 'spacings: 1 1' 'axis mins: 0 0' 'geotransform:=1000 10 0 2000 0 -10' 'crs:=EPSG:32633' -- {1..12} >a
	item float '4 3' 'geotransform:=1040 10 0 2000 0 -10' 'crs:=EPSG:32633' -- {1..12} >b
	item float '4 3' 'geotransform:=1000 10 0 2000 0 -10' 'crs:=EPSG:32634' -- {1..12} >c
	item float '4 3' 'geotransform:=1000.5 10.01 0 2000 0 -10' -- {1..12} >d
	item float '4 3' 'geotransform:=1000 10.5 0 2000 0 -10' -- {1..12} >e
	item float '4 3' -- {1..12} >f
	for x in b c e; do
		rawmath 'a + b' a $x 2>said | rawinfo | grep 'sizes: 4 3'
		same said "rawmath: $x: it is a map of another place than a"
		rawstack --planes a $x 2>said | rawinfo | grep 'sizes: 2 4 3'
		same said "rawstack: $x: item 2: it is a map of another place than the first item"
	done
	rawlabel --above=0 --values=b --to=csv a 2>said | grep ^1,12
	same said 'rawlabel: b: it is a map of another place than a'
	rawlabel --above=0 --markers=c a 2>&1 >/dev/null | grep -x 'rawlabel: c: it is a map of another place than a'
	for x in a d f; do
		remarks '' rawlabel --values=$x --to=csv a >o
		remarks '' rawmath 'a + b' a $x >o
		remarks '' rawstack --combine=max a $x >o
	done
	# Parts have places of their own.
	remarks '' rawmath 'a + b' <(rawaxes --crop=0:1:3 a) <(rawaxes --crop=0:1:3 a) >/dev/null
	rawmath 'a + b' <(rawaxes --crop=0:0:2 a) <(rawaxes --crop=0:2:4 a) 2>&1 >/dev/null | grep 'another place'
	remarks '' rawmath --quiet 'a + b' a b >/dev/null
}

# part X Y LINE... -- SAMPLE...: a part of 2x2 pixels of 10 m, whose outer corner is X, Y.
part() {
	local x=$1 y=$2
	shift 2
	item "${type:-float}" '2 2' 'spacings: 1 1' 'axis mins: 0 0' "geotransform:=$x 10 0 $y 0 -10" 'crs:=EPSG:32633' "$@"
}

@test "--map puts tiles where they lie on the map, in any order, and what no tile has is missing" {
	part 1000 2000 -- 1 2 3 4 >a
	part 1010 1990 -- 4 5 6 7 >b
	for order in 'a b' 'b a'; do
		rawjoin --map $order >joined
		lines <(rawtotext joined) '1 2 nan/3 4 5/nan 6 7'
		rawinfo joined | grep -x nodata:=nan
		rawtotiff joined | tifftoraw | says 'geotransform:=1000 10 0 2000 0 -10'
	done
	cat a b | rawjoin --map | cmp - <(rawjoin --map a b)
	rawjoin --map - b <a | cmp - <(rawjoin --map a b)
	rawjoin --map --max-mem=8 a b | rawtotext | cmp - <(rawjoin --map a b | rawtotext)
	same <(rawjoin --map --fill=0 a b | rawtotext | head -n 1) '1 2 0'
	# Parts that were cut, and a key without positions.
	rawtile --grid=2x2 --margin=1 joined | rawjoin --map | cmp <(rawtotext joined) <(rawtotext)
	rawaxes --crop=1:1:3 joined >c
	rawaxes --crop=1:0:1 joined | sed '/^tile/d' | rawjoin --map c - | cmp <(rawtotext joined) <(rawtotext)
	fails 1 'it is needed more than once, so it must be a file and not a pipe' rawjoin --map <(cat a)
	item float '1 1' 'geotransform:=1000 10 0 2000 0 -10' -- 5 >d
	item float '1 1' 'geotransform:=980 10 0 2000 0 -10' -- 6 >e
	rawjoin --map d e >f
	same <(rawtotext f) '6 nan 5'
	rawtotiff f | tifftoraw | says 'geotransform:=980 10 0 2000 0 -10'
}

@test "--map follows rotated maps, flips and coarse samples" {
	item short '6 4' 'geotransform:=100 3 4 500 4 -3' -- {1..24} >a
	rawtile --grid=3x2 a | sed '/^tile:=/d' | rawjoin --map | rawtotext | cmp - <(rawtotext a)
	rawaxes --flip=1 a >b
	rawtile --grid=3x2 b | rawjoin --map | rawtotext | cmp - <(rawtotext b)
	# Samples of 2 by 1 pixels, the first of which has its centre between pixels 2 and 3.
	item short '3 1' 'spacings: 2 1' 'axis mins: 2.5 0' 'geotransform:=100 10 0 500 0 -10' -- 1 2 3 >c
	rawtile --grid=3x1 --only=2 c >d
	rawtile --grid=3x1 --only=0 c >e
	same <(rawjoin --map --fill=0 d e | rawtotext) '1 0 3'
	rawjoin --map --fill=0 d e | rawtotiff | tifftoraw | says 'geotransform:=120 20 0 500 0 -10'
}

@test "--map passes over missing samples where tiles overlap, and says which samples differ" {
	part 1000 2000 -- 1 nan 3 nan >a
	part 1010 2000 -- nan 5 4 5 >b
	lines <(rawjoin --map a b | rawtotext) '1 nan 5/3 4 5'
	for how in first last sum max min; do
		rawjoin --map --overlap=$how b a | rawtotext | cmp - <(rawjoin --map a b | rawtotext)
	done
	part 1000 2000 -- 1 7 3 9 >c
	fails 1 'c: it differs from the part below it, first at 1,1; see --overlap' rawjoin --map b c
	same <(rawjoin --map --overlap=first b c | rawtotext | tail -n 1) '3 4 5'
	same <(rawjoin --map --overlap=last b c | rawtotext | tail -n 1) '3 9 5'
	same <(rawjoin --map --overlap=sum b c | rawtotext | tail -n 1) '3 13 5'
	rawjoin --map a a | cmp <(rawtotext) <(rawtotext a)
	for type in short int uchar; do
		part 1000 2000 nodata:=9 -- 1 9 3 9 >a
		part 1010 2000 nodata:=9.0 -- 9 5 4 5 >b
		lines <(rawjoin --map a b | rawtotext) '1 9 5/3 4 5'
		part 1030 2000 nodata:=9 -- 1 2 3 4 >c
		lines <(rawjoin --map a c | rawtotext) '1 9 9 1 2/3 9 9 3 4'
		part 1030 2000 -- 1 2 3 4 >d
		fails 1 'd: its value of missing samples is none, but that of the parts before is 9' rawjoin --map a d
		part 1000 1980 -- 1 2 3 4 >e
		fails 1 '12 of 5x4 pixels are in no part, the first at 0,0; see --fill' rawjoin --map d e
	done
}

@test "--map refuses other grids and systems by name" {
	part 1000 2000 -- 1 2 3 4 >a
	part 1010.05 2000 -- 5 6 7 8 >b
	rawjoin --map a b --overlap=last | says 'sizes: 3 2'
	# How b differs from a, and what is said.
	while IFS='|' read -r edit text; do
		sed "$edit" a >b
		fails 1 "b: item 1: $text" rawjoin --map a b
	done <<-'END'
		s/1000 10/1005 10/|it lies 0.5 columns and 0 rows from the first part, and not a whole number
		s/0 -10/0 -20/|a step of a column and of a row is 10,0 and 0,-20 on the map, but 10,0 and 0,-10 in the parts before
		s/0 -10/0 10/|a step of a column and of a row is 10,0 and 0,10 on the map, but 10,0 and 0,-10 in the parts before
		s/32633/32632/|its coordinate system is another one: crs:=EPSG:32632, but EPSG:32633 in the parts before
		s/^crs:=.*/geotiff.ascii:=mine/|its coordinate system is another one: crs:=none, but EPSG:32633 in the parts before
		/^geotransform/d|it has no geotransform:= that places it on a map; see tifftoraw
		s/^geotransform:=.*/geotransform:=1 0 0 1 0 0/|it has no geotransform:= that places it on a map; see tifftoraw
		s/1000 10/1e14 10/|it is too far from the parts before
		s/1000 10/1e12 10/|the picture of all parts would have more than 134217728 columns or rows
	END
	sed 's/^crs:=.*/geotiff.ascii:=mine/' a >b
	sed 's/^crs:=.*/geotiff.ascii:=yours/' a >c
	fails 1 'c: item 1: its coordinate system is another one: geotiff.ascii:=yours, but mine' rawjoin --map b c
	part 1e8 2000 -- 1 2 3 4 >b
	fails 1 'raise it with --max-bytes' rawjoin --map --max-bytes=1k a b
	fails 2 'only one of --missing and --map can be given' rawjoin --map --missing a
	pgm 1 1 1 1 >k.pgm
	for i in 0 1; do wconv -k k.pgm --part=$i/2 a >share.$i; done
	fails 1 'it is a share of --part; join the shares first' rawjoin --map share.0 share.1
	# Without --map, items lie on one another.
	part 1030 2000 -- 9 2 3 4 >b
	rawjoin --overlap=max a b 2>said | rawtotext | grep -x '9 2'
	same said 'rawjoin: b: item 2: it is a map of another place than the items before; see --map'
}

@test "what has no columns and rows of a map has no place in it" {
	item float '2 4 3' 'kinds: vector domain domain' 'geotransform:=1000 10 0 2000 0 -10' 'crs:=EPSG:32633' -- {1..24} >a
	for axes in --slice=0:1 --crop=0:0:1 --order=1,2,0 --order=2,1,0 --slice=0:1\ --flip=1; do
		rawaxes $axes a | rawinfo | grep '^geotransform:=1000 '
	done
	rawaxes --slice=1:0 a | run -1 grep -a geotransform
	rawaxes --slice=2:0 a | run -1 grep -a geotransform
	rawaxes --order=1,0,2 a | run -1 grep -a geotransform
	rawaxes --order=2,1,0 a | says 'geotransform:=1000 0 10 2000 -10 0'
	item float '4 3' 'geotransform:=1000 10 0 2000 0 -10' 'geotiff.tiepoints:=0 0 0 1 1 0' -- {1..12} >b
	rawaxes --slice=1:2 b | run -1 grep -a -e geotransform -e tiepoints
}

@test "ground control points of a map follow a cut, a flip and a transposition" {
	points='geotiff.tiepoints:=0 0 0 100 200 0 4 0 0 140 200 0 4 3 0 140 170 5'
	item uchar '4 3' 'spacings: 1 1' 'axis mins: 0 0' "$points" -- {1..12} | rawtotiff >a.tif
	after() {
		tifftoraw a.tif | rawaxes "$@" | rawtotiff | tifftoraw | rawinfo | sed -n 's/^geotiff.tiepoints:=//p'
	}
	tifftoraw a.tif | rawinfo | grep -x "$points"
	# A map has no resolution: its axes count pixels.
	run -1 perl -0777 -ne 'exit !/\x1a\x01\x05\x00/' a.tif
	same <(after --crop=0:1:3 --crop=1:2:3) '-1 -2 0 100 200 0 3 -2 0 140 200 0 3 1 0 140 170 5'
	same <(after --flip=1) '0 3 0 100 200 0 4 3 0 140 200 0 4 0 0 140 170 5'
	same <(after --order=1,0) '0 0 0 100 200 0 0 4 0 140 200 0 3 4 0 140 170 5'
	# Points that are centres of pixels: the last row is 2.
	item uchar '4 3' 'spacings: 1 1' 'axis mins: 0 0' "$points" 'geotiff.keys:=1 1 0 1 1025 0 1 2' -- {1..12} | rawtotiff >a.tif
	same <(after --flip=1) '0 2 0 100 200 0 4 2 0 140 200 0 4 -1 0 140 170 5'
}

@test "missing integers are counted, or become NaN" {
	item short '3 2' nodata:=-32768 -- 5 -32768 7 8 9 -32768 | rawtotiff >a.tif
	remarks 'tifftoraw: a.tif: 2 samples have the value -32768 of missing ones and stay numbers; see --nan' tifftoraw a.tif >b
	lines <(rawtotext b) '5 -32768 7/8 9 -32768'
	remarks '' tifftoraw --nan a.tif >b
	says 'type: float' <b
	lines <(rawtotext b) '5 nan 7/8 9 nan'
	[ "$(rawtotiff b | tifftoraw | rawtotext)" = "$(rawtotext b)" ]
	# Without missing samples nothing is said, and without a value for them --nan changes nothing.
	item int '2 1' nodata:=7 -- 5 2000000000 | rawtotiff >c.tif
	remarks '' tifftoraw c.tif >d
	tifftoraw --nan c.tif | says 'type: double'
	item uchar '2 1' -- 5 255 | rawtotiff | tifftoraw --nan | says 'type: uchar'
}

@test "numbers of another meaning take no value of missing ones from their map" {
	item short '3 1' nodata:=1 'tiff.ColorMap:=1,2,3' -- 1 0 9 >a
	item float '3 1' nodata:=0 -- 1 0 9 >b
	for job in 'rawlabel a' 'rawmath --type=short a a' 'emst --image -m 1 --to=labels a' 'morphrec --hdome=1 a'; do
		$job | rawinfo >got
		run -1 grep -x nodata:=1 got
	done
	rawlabel a | run -1 grep -a ColorMap
	rawmath --type=short a a | grep -a ColorMap
	for job in 'rawdist b' 'rawmath a+1 b' 'morphrec --hdome=1 b'; do $job | says nodata:=nan; done
	# Levels of the same picture keep it.
	morphrec --hmax=1 a | says nodata:=1
	# (n - r) / (n + r) is 0 at the second pixel, and unknown at the third.
	item float '3 1' nodata:=0 -- 9 5 nan | rawmath '(a - 5) / (a + 5)' | rawtotiff | tifftoraw | rawtotext >got
	same got '0.2857143 0 nan'
}

@test "--nodata names the value that NaN becomes, and numbers that equal it are counted" {
	item float '4 1' nodata:=7 -- 7 nan 5 7 >a
	remarks 'rawtotiff: a: item 1: 2 samples are 7, which is written for NaN, too; see --nodata' rawtotiff a >a.tif
	for v in -9999 1e38 inf -9999.1 nan; do
		rawtotiff --nodata=$v a 2>said | tifftoraw >b
		[ ! -s said ]
		same <(rawtotext b) '7 nan 5 7'
		says nodata:=$v <b
	done
	item float '2 1' nodata:=7 -- 7 5 | rawtotiff 2>said | tifftoraw | rawtotext | grep -x 'nan 5'
	[ ! -s said ]
	fails 2 "rawtotiff: --nodata: '7x' is not a number" rawtotiff --nodata=7x a
}

@test "--nodata must be a value that samples can have" {
	while read -r type v can; do
		item double 2 -- 1 2 | rawmath --type="$type" a >a
		if [ "$can" ]; then
			rawtotiff --nodata="$v" a | tifftoraw 2>/dev/null | says "nodata:=$v"
		else
			fails 1 "rawtotiff: a: item 1: --nodata: no $type is $v" rawtotiff --nodata="$v" a
		fi
	done <<-'END'
		uchar -9999
		uchar 256
		uchar 1.5
		uchar nan
		uchar inf
		short -9999 can
		int64 9223372036854775807 can
		int64 -9223372036854775808 can
		int64 9223372036854775808
		uint64 -1
		uint64 18446744073709551615 can
		float 1e300
	END
	# A key that the file came with: missing samples of integers are none, and those of floats need another value.
	item float 2 nodata:=-1.7976931348623157e+308 -- 1 nan >d
	rawtotiff d 2>said | tifftoraw >e
	same said 'rawtotiff: d: item 1: no float is -1.7976931348623157e+308, so missing samples are written as nan; see --nodata'
	same <(rawtotext e) '1 nan'
	says nodata:=nan <e
	item uchar 2 nodata:=-9999 -- 1 2 | rawtotiff 2>said | tifftoraw | says nodata:=-9999
	[ ! -s said ]
}

@test "the number of missing samples may have blanks around it, or be a word of Microsoft's library" {
	# with TEXT: a.tif with this text for -99999999, which is as long or longer.
	with() {
		perl -0777 -pe 'BEGIN { $t = shift } s/-99999999\0/$t . "\0" x (10 - length $t)/e' -- "$1" a.tif
	}
	item float 3 -- 1 -9999 3 | rawtotiff --nodata=-99999999 >a.tif
	for text in '-9999 ' ' -9999'; do
		with "$text" >b.tif
		same <(tifftoraw b.tif | rawtotext) '1 nan 3'
		tifftoraw b.tif | says nodata:=-9999
	done
	item float 3 -- 1 -inf inf | rawtotiff --nodata=-99999999 >a.tif
	same <(with '-1.#INF' | tifftoraw | rawtotext) '1 nan inf'
	same <(with '1.#INF' | tifftoraw | rawtotext) '1 -inf nan'
	with '1.#QNAN' | tifftoraw | says nodata:=nan
}

@test "what GDAL says of planes follows them, and statistics are left out when samples may have changed" {
	local text='<GDALMetadata>\n  <Item name="DATE">today</Item>\n'
	for i in 0 1 2; do
		text+="  <Item name=\"DESCRIPTION\" sample=\"$i\" role=\"description\">b$i</Item>\n"
		text+="  <Item name=\"SCALE\" sample=\"$i\" role=\"scale\">.$i</Item>\n"
		text+="  <Item name=\"STATISTICS_MEAN\" sample=\"$i\">$i</Item>\n"
	done
	item uchar '3 2 1' 'kinds: vector domain domain' "tiff.GDALMetadata:=$text</GDALMetadata>\n" -- 1 2 3 4 5 6 >a
	# words PIPELINE...: the numbers of planes and the values.
	words() {
		rawinfo | sed -n 's/^tiff.GDALMetadata:=//p' | sed 's/\\n/\n/g' |
			sed -n -e 's/.*sample="\([0-9]\)".*>\(.*\)<\/.*/\1 \2/p' -e 's/.*DATE.*>\(.*\)<\/.*/\1/p' | paste -sd,
	}
	same <(words <a) 'today,0 b0,0 .0,0 0,1 b1,1 .1,1 1,2 b2,2 .2,2 2'
	same <(rawtotiff a | tifftoraw | words) 'today,0 b0,0 .0,0 0,1 b1,1 .1,1 1,2 b2,2 .2,2 2'
	same <(rawaxes --slice=0:1 a | rawtotiff | tifftoraw | words) 'today,0 b1,0 .1'
	same <(rawaxes --crop=0:1:3 --flip=0 a | rawtotiff | tifftoraw | words) 'today,1 b1,1 .1,0 b2,0 .2'
	same <(rawaxes --crop=1:0:1 a | rawtotiff | tifftoraw | words) 'today,0 b0,0 .0,1 b1,1 .1,2 b2,2 .2'
	# An index has neither the scale of its bands nor their statistics.
	same <(rawmath a+1 a | rawtotiff | tifftoraw | words) 'today,0 b0,1 b1,2 b2'
	same <(emst -m 1 --to=labels a | rawtotiff | tifftoraw | words) 'today,0 b0'
	# The key goes with its last element.
	sed 's/  <Item name="DATE">today<.Item>\\n//' a | rawlabel 2>&1 | run -1 grep -a DATE
	item uchar '1 1' 'tiff.GDALMetadata:=<GDALMetadata>\n  <Item name="SCALE" sample="0" role="scale">3</Item>\n</GDALMetadata>' -- 1 |
		rawlabel | run -1 grep -a GDAL
}

@test "the least and greatest samples that a page states come back, while the samples are the same" {
	keys=(tiff.MinSampleValue:=3 tiff.MaxSampleValue:=200 'tiff.SMinSampleValue:=3 4 5' 'tiff.SMaxSampleValue:=100 150.5 200')
	item float '3 2 1' 'kinds: vector domain domain' "${keys[@]}" -- 3 150.5 5 100 4 200 | rawtotiff >a.tif
	tifftoraw a.tif >b
	says "${keys[@]}" <b
	rawtotiff b | cmp - a.tif
	rawmath 'a * 2' b | rawtotiff | tifftoraw | run -1 grep -a SampleValue
	# Where 0 is white: MinSampleValue is tag 280.
	! command -v /usr/bin/python3 || { write_tiff c.tif II 2 8 1 0109 262=0 280=1 && tifftoraw c.tif | run -1 grep -a SampleValue; }
	# Too few numbers, and one that no tag holds.
	item float '3 2 1' 'kinds: vector domain domain' 'tiff.SMinSampleValue:=3 4' tiff.MaxSampleValue:=65536 -- 1 2 3 4 5 6 |
		rawtotiff | tifftoraw | run -1 grep -a SampleValue
}

@test "text, resolution and colour profile come back, of a megabyte, too" {
	item float '2 1' 'spacings: .01 .01' 'units: "in" "in"' 'tiff.Software:=a b' 'tiff.ImageDescription:=two\nlines \\ one' \
		'tiff.ICCProfile:=00ff10' -- 1 2 | rawtotiff | tifftoraw | rawinfo >a
	for line in 'tiff.Software:=a b' 'tiff.ICCProfile:=00ff10' 'units: "in" "in"' 'spacings: 0.01[0-9]* 0.01[0-9]*'; do
		grep -x "$line" a
	done
	grep -Fx 'tiff.ImageDescription:=two\nlines \\ one' a
	head -c 1000000 /dev/zero | tr '\0' a | sed 's/^/tiff.ImageDescription:=/' >keys
	{ printf '\ntiff.ICCProfile:=' && head -c 1000000 /dev/urandom | od -An -v -tx1 | tr -d ' \n' && echo; } >>keys
	{ printf 'NRRD0005\ntype: uchar\ndimension: 2\nsizes: 2 1\nencoding: raw\n' && cat keys && printf '\n12'; } | rawtotiff | tifftoraw |
		rawinfo | grep -xcFf keys | grep -x 2
}

@test "truncated, looped and hostile files are end or are refused in one line" {
	gen noise 200 100 >a.pgm
	rawtotiff --compress=deflate a.pgm >a.tif
	head -c 300 a.tif >cut.tif
	rawtotiff a.pgm | head -c 9000 >short.tif
	printf 'no picture at all' >a.txt
	# 2^31 by 2^31 pixels in 80 bytes.
	perl -e 'print "II*\0\x08\0\0\0", pack("v", 5), pack("vvVV", 256, 4, 1, 2147483647), pack("vvVV", 257, 4, 1, 2147483647),
		pack("vvVV", 258, 3, 1, 8), pack("vvVV", 273, 4, 1, 8), pack("vvVV", 279, 4, 1, 1), pack("V", 0)' >huge.tif
	# Half of the bytes of its row; a tile of 1.6 GB; and a scratch file that may have 8 KiB.
	write_tiff half.tif II 4 64 1 00112233445566778899aabbccddeeff
	write_tiff tile.tif MM 2 8 1 0011 322=40000 323=40000 324=8 325=2
	full() { (trap '' XFSZ && ulimit -f 8 && "$@" a.pgm); }
	all_fail <<-'END'
		1|half.tif: page 0: its strips are shorter than their rows|tifftoraw half.tif
		1|tile.tif: page 0: a tile of 1600000000 bytes exceeds the limit of 1048576; raise it with --max-bytes|tifftoraw --max-bytes=1000 tile.tif
		1|the scratch file in TMPDIR: File too large|full rawtotiff
		1|the scratch file in TMPDIR: File too large|full rawtotiff --compress=lzw
		1|the scratch file in TMPDIR: File too large|full rawtofits
		1|cut.tif: |tifftoraw cut.tif
		1|short.tif: |tifftoraw short.tif
		1|a.txt: Not a TIFF|tifftoraw a.txt
		1|--max-bytes|tifftoraw --max-bytes=100 a.tif
		1|huge.tif: |tifftoraw huge.tif
		2|--tile: 17 is not a multiple of 16|rawtotiff --tile=17 a.pgm
		2|--tile: '65536' is not a whole number in 16..4096|rawtotiff --tile=65536 a.pgm
	END
	# A directory that is its own successor: the offset of the next one stands at the end of the first.
	perl -e 'print "II*\0\x08\0\0\0", pack("v", 4), pack("vvVV", 256, 3, 1, 1), pack("vvVV", 257, 3, 1, 1),
		pack("vvVV", 273, 4, 1, 8), pack("vvVV", 279, 4, 1, 1), pack("V", 8)' >loop.tif
	tifftoraw loop.tif 2>said | says 'sizes: 1 1'
	same said 'tifftoraw: loop.tif: behind page 0, the file names an earlier page as the next'
	cat a.tif | tifftoraw | rawtopnm | cmp - a.pgm
}
