load lib

# Whole jobs, from the user's file to the user's file: the demonstrations sources, cells and photo.

# field EXPRESSION: a FITS image of 160x120 with noise of variance 25 and an OBJECT.
field() {
	gen --type=float --seed=3 noise 160 120 >n.nrrd
	rawmath "(a - .5) * 17.3205 + $1" n.nrrd | sed '/^encoding/a fits.OBJECT:='"'M51     '"' / what it is' | rawtofits -o field.fits
}

star() {
	printf '%s * exp(-((x - %s)^2 + (y - %s)^2) / %s) / (%s * 3.14159265358979)' "$3" "$1" "$2" "$4" "$4"
}

@test "sources: counts, places and fluxes of stars on a sky that slopes" {
	field "1000 + x / 4 + $(star 40.3 30.6 90000 5) + $(star 100.5 80.25 60000 6) + $(star 111.5 80.25 50000 6) + $(star 70 100 30000 4)"
	"$root/t/demo/sources" field.fits
	[ "$(sed 1d field.csv | wc -l)" -eq 4 ]
	awk -F, 'BEGIN { split("40.3 100.5 111.5 70", X, " "); split("30.6 80.25 80.25 100", Y, " "); split("90000 60000 50000 30000", F, " ") }
	function far(a, b, d) { return a - b > d || b - a > d }
	NR > 1 {
		for (k = 1; k <= 4; k++)
			if (!far($1, X[k], .1) && !far($2, Y[k], .1) && !far($7 / F[k], 1, .01))
				found[k] = 1
	}
	END { exit !(found[1] && found[2] && found[3] && found[4]) }' field.csv || { cat field.csv && false; }
	fitstoraw field-sub.fits >sub.nrrd
	grep -a "OBJECT:='M51" sub.nrrd
	rawaxes --crop=0:60:100 --crop=1:45:75 sub.nrrd | rawinfo | awk '/^mean/ { exit !($2 < 1 && $2 > -1) }'
}

@test "sources: they are those of sep, with its background" {
	/usr/bin/python3 -c 'import sep, astropy' 2>/dev/null || skip 'python3-sep and python3-astropy are not installed'
	field "1000 + x / 4 + $(star 40.3 30.6 90000 5) + $(star 100.5 80.25 2000 6) + $(star 107.5 80.25 1500 6) + $(star 70 100 300 4)"
	/usr/bin/python3 - <<-'END'
		import numpy as np, sep
		from astropy.io import fits
		im = fits.getdata('field.fits').astype('f4')
		back = sep.Background(im, bw=40, bh=40)
		sub = im - back.back()
		o = sep.extract(sub, 1.5 * back.globalrms, deblend_cont=1, clean=False)
		np.save('sub.npy', sub)
		open('above', 'w').write(repr(1.5 * back.globalrms))
		o = o[np.lexsort((o['xmin'], o['ymin']))]
		np.savetxt('want', np.c_[o['npix'], o['x'], o['y'], o['flux']], '%.9g')
	END
	printf 'P2 3 3 4 1 2 1 2 4 2 1 2 1\n' >filter.pgm
	wconv -k filter.pgm --normalise --edge=zero sub.npy >f.nrrd
	for values in f.nrrd sub.npy; do
		rawlabel --above="$(cat above)" --min-size=5 --values=$values --to=csv f.nrrd | sed 1d | sort -t, -k 4,4n -k 3,3n >$values.csv
	done
	paste <(cut -d, -f 2 f.nrrd.csv) <(cut -d, -f 13,14 f.nrrd.csv | tr , ' ') <(cut -d, -f 9 sub.npy.csv) >got
	[ "$(wc -l <want)" -eq 3 ]
	paste want got | awk 'function far(a, b, d) { return a - b > d || b - a > d }
	$1 != $5 || far($2, $6, 1e-3) || far($3, $7, 1e-3) || far($4 / $8, 1, 1e-4) { bad = 1 } END { exit bad }'
}

@test "cells: a stack of ImageJ goes in, labels with its spacings come out" {
	"$root/t/demo/cells"
	[ "$(sed 1d stack.csv | wc -l)" -eq 16 ]
	tifftoraw stack-cells.tif >labels.nrrd
	same <(grep -a -e ^type -e ^sizes -e ^spacings -e ^units labels.nrrd) 'type: int
sizes: 96 80 40
spacings: 0.5 0.5 1.5
units: "um" "um" "um"'
	# Cell 1 has its centre, where the hole was, at 12, 12, 13.33 voxels.
	[ "$(rawaxes --slice=0:12 --slice=1:12 --slice=2:13 labels.nrrd | rawtotext)" -eq 1 ]
	awk -F, 'NR == 2 { exit !($9 > 5.5 && $9 < 6.5 && $10 > 5.5 && $10 < 6.5 && $11 > 19 && $11 < 21) }' stack.csv
	if /usr/bin/python3 -c 'import tifffile' 2>/dev/null; then
		/usr/bin/python3 - <<-'END'
			import tifffile
			t = tifffile.TiffFile('stack-cells.tif')
			m, p = t.imagej_metadata, t.pages[0].tags
			assert t.asarray().shape == (40, 80, 96) and t.asarray().max() == 16
			assert m['spacing'] == 1.5 and m['unit'] == 'um' and m['slices'] == 40
			assert p['XResolution'].value == (2, 1)
		END
	fi
}

@test "photo: specks go, flat colours and the type stay" {
	{
		printf 'P6 40 30 255\n'
		perl -e 'for my $i (0 .. 1199) { my $x = $i % 40; print $i == 610 ? "\xff\xff\xff" : $x < 20 ? "\x40\x80\x10" : "\x60\x60\xc0" }'
	} | rawtotiff -o a.tif
	"$root/t/demo/photo" a.tif
	tifftoraw a-clean.tif >a.nrrd
	lines <(grep -a -e ^type -e ^sizes -e ^kinds a.nrrd) 'type: uchar/sizes: 3 40 30/kinds: RGB-color domain domain'
	same <(rawaxes --slice=1:10 --slice=2:15 a.nrrd | rawtotext) '64 128 16'
	same <(rawaxes --slice=1:35 --slice=2:20 a.nrrd | rawtotext) '96 96 192'
	# Beside the edge between the colours, contrast grows.
	[ "$(rawaxes --slice=0:0 --slice=1:19 --slice=2:3 a.nrrd | rawtotext)" -lt 64 ]
	[ "$(rawaxes --slice=0:0 --slice=1:20 --slice=2:3 a.nrrd | rawtotext)" -gt 96 ]
}
