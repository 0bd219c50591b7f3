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

# near FILE ROW COLUMN WANT BY ...: numbers of a table.
near() {
	awk -F, -v row="$2" -v want="${*:3}" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR == row + 1 { n = split(want, w, " "); for (i = 1; i < n; i += 3) {
			d = $at[w[i]] - w[i + 1]; print row, w[i], $at[w[i]]; if (!(d <= w[i + 2] && d >= -w[i + 2])) exit 1 } }' "$1"
}

@test "sources: counts, places and fluxes of stars on a sky that slopes" {
	field "1000 + x / 4 + $(star 40.3 30.6 90000 5) + $(star 100.5 80.25 60000 6) + $(star 111.5 80.25 50000 6) + $(star 70 100 30000 4)"
	"$root/t/demo/sources" field.fits
	[ "$(wc -l <field.csv)" -eq 5 ]
	row=0
	while read -r x y flux; do
		row=$((row + 1))
		near field.csv $row x "$x" .1 y "$y" .1 flux "$flux" $((flux / 100)) flux_err 80 20
	done <<-'END'
		40.3 30.6 90000
		100.5 80.25 60000
		111.5 80.25 50000
		70 100 30000
	END
	# The moments are those of the star, sigma^2 = 2.5, and of the filter, .72.
	near field.csv 1 xx 3.2 .1
	fitstoraw field-sub.fits >sub.nrrd
	grep -a "OBJECT:='M51" sub.nrrd
	rawaxes --crop=0:60:100 --crop=1:45:75 sub.nrrd | rawinfo | awk '/^mean/ { exit !($2 < 1 && $2 > -1) }'
	weir sources -t 7 field.fits | cmp - field.csv
	weir sources --above=1000 field.fits | cut -d, -f 2-4 | grep -c '^40\.' | grep -x 1
}

@test "changes: a new star and one that has gone, in the sky, and nothing that stayed" {
	# frame NAME SEED WIDTH MORE: stars of one field.
	frame() {
		gen --type=float --seed="$2" noise 240 200 | rawmath "500 + (a - .5) * 17.3205 +
			(y < 190) * 6000 / $3 * exp(-((x % 29.3 - 14)^2 + (y % 26.7 - 13)^2) / $3) + $4" - |
			sed "/^encoding/a fits.NAXIS:=2\nfits.CTYPE1:='RA---TAN'\nfits.CTYPE2:='DEC--TAN'\nfits.CRPIX1:=101\nfits.CRPIX2:=61\nfits.CRVAL1:=10.\nfits.CRVAL2:=0.\nfits.CDELT1:=-.001\nfits.CDELT2:=.001" |
			rawtofits -o "$1"
	}
	frame new.fits 1 8 "$(star 100 60 9000 8)"
	frame ref.fits 2 6 "$(star 30.5 150 9000 6)"
	weir changes --fwhm=4.7 --box=40 new.fits ref.fits >alerts.csv
	[ "$(wc -l <alerts.csv)" -eq 3 ] || { cat alerts.csv && false; }
	near alerts.csv 1 ra 10 2e-4 dec 0 2e-4 flux 9000 500
	near alerts.csv 2 x 30.5 .2 y 150 .2 flux -9000 500 sigma 160 30
	[ "$(weir changes --fwhm=4.7 --box=40 --above=500 new.fits ref.fits)" = "$(head -n 1 alerts.csv)" ]
}

@test "a job that fails says why in one line, and leaves no file behind" {
	export TMPDIR=$PWD/tmp
	mkdir tmp
	field 5
	for job in sources 'changes field.fits'; do
		weir $job --help | grep "usage: weir ${job%% *} "
		fails 1 'the payload ends after' weir $job <(head -c 9000 field.fits)
		fails 2 "option '--frobnicate' is unknown" weir $job --frobnicate field.fits
		fails 2 "--fwhm=0 is no width" weir $job --fwhm=0 field.fits
		fails 2 'its operands are' weir $job field.fits field.fits
	done
	fails 1 'stars are too few' weir changes field.fits field.fits
	rawtofits n.nrrd n.nrrd >two.fits
	fails 1 'two.fits: it has several images: choose one by --hdu=NAME' weir sources two.fits
	[ "$(weir sources --hdu=1 two.fits | wc -l)" -eq 1 ]
	[ ! -w /dev/full ] || fails 1 'No space left' bash -c 'weir sources field.fits >/dev/full'
	[ -z "$(ls tmp)" ]
}

@test "cells: a stack of ImageJ goes in, labels with its spacings come out" {
	"$root/t/demo/cells"
	[ "$(sed 1d stack.csv | wc -l)" -eq 16 ]
	tifftoraw stack-cells.tif >labels.nrrd
	lines <(grep -a -e ^type -e ^sizes -e ^spacings -e ^units labels.nrrd) 'type: int/sizes: 96 80 40/spacings: 0.5 0.5 1.5/units: "um" "um" "um"'
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
