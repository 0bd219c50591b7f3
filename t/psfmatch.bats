load lib

# field [N]: N stars, or 150, and the same through a blur that wconv does.
field() {
	gen --type=float stars 400 300 "${1:-150}" >ref.nrrd
	gen values 3x3 1 2 1 2 4 2 1 2 1 >blur.nrrd
	wconv -k blur.nrrd --normalise --edge=nearest ref.nrrd >new.nrrd
}

prepare() {
	field
}

# The two with noise.
noisy() {
	for name in ref new; do
		rawmath 'a + ((x * 7919 + y * 104729) % 1009 / 1009 - .5) * .01' $name.nrrd >$name.noisy
	done
}

# poke FILE INDEX VALUE: a sample of the 120000 floats becomes VALUE, or NaN.
poke() {
	perl -e 'open my $f, "+<", $ARGV[0] or die; seek $f, -4 * (120000 - $ARGV[1]), 2;
		print $f pack "f<", $ARGV[2] eq "nan" ? 9**9**9 / 9**9**9 : $ARGV[2]' "$@"
}

# least FILE LIMIT: all samples are within LIMIT of 0.
least() {
	rawinfo "$1" | awk -v limit="$2" '/^(min|max):/ { if ($2 ^ 2 > limit ^ 2) exit 1; n++ } END { exit n != 2 }'
}

@test "the kernel of a blur is found, and wconv reads it as it is" {
	for basis in --basis=gauss '--basis=delta --smooth=0'; do
		psfmatch $basis --size=7 ref.nrrd new.nrrd >k.nrrd
		grep -ax 'sizes: 7 7 6' k.nrrd
		wconv -k k.nrrd --edge=nearest ref.nrrd >again.nrrd
		paste -d ' ' <(samples again.nrrd | tr ' ' '\n') <(samples new.nrrd | tr ' ' '\n') |
			awk '{ if (($1 - $2) ^ 2 > 1e-6) exit 1 }'
	done
}

@test "--subtract leaves what has changed" {
	psfmatch --size=7 --subtract ref.nrrd new.nrrd >out.nrrd
	grep -aE '^history:=psfmatch --size=7 --subtract ref.nrrd new.nrrd: ratio of fluxes [01][.0-9]*, kernels of 7x7$' out.nrrd
	least out.nrrd .001
	rawmath 'hypot(x - 200, y - 150) < 2 ? a + .5 : a' new.nrrd >changed.nrrd
	psfmatch --size=7 --subtract ref.nrrd changed.nrrd >out.nrrd
	rawmath 'a - .5 * (hypot(x - 200, y - 150) < 2)' out.nrrd >rest.nrrd
	rawinfo rest.nrrd | grep -x 'nan: 0'
	least rest.nrrd .01
}

@test "--noise is that of both pictures through the kernel, and --sigma the difference over it" {
	seed=
	for name in ref new; do
		for i in 1 2 3 4; do gen noise 400 300 --seed=$i${#seed} >noise$i.pgm; done
		seed+=1
		rawmath 'a + ((n + m + k + l) / 255 - 2) * .005' a=$name.nrrd n=noise1.pgm m=noise2.pgm k=noise3.pgm l=noise4.pgm >$name.noisy
	done
	# Noise of .01 / sqrt(12), of which the blur leaves 6 / 16 in the reference.
	want=$(awk 'BEGIN { print .01 / sqrt(12) * sqrt(1 + 36 / 256) }')
	poke new.noisy 5000 nan
	psfmatch --size=7 --degree=0 --subtract --noise=noise.nrrd ref.noisy new.noisy >out.nrrd
	rawinfo --robust noise.nrrd | awk -v want="$want" '/^median:/ { exit !(($2 / want - 1) ^ 2 < .05 ^ 2) }'
	psfmatch --size=7 --degree=0 --subtract --sigma ref.noisy new.noisy >sigma.nrrd
	rawinfo --robust sigma.nrrd | awk '/^clipped sd:/ { exit !(($3 - 1) ^ 2 < .05 ^ 2) }'
	rawmath 'a - s * n' a=out.nrrd s=sigma.nrrd n=noise.nrrd >left.nrrd
	least left.nrrd 1e-6
	for f in out noise sigma; do rawaxes --crop=0:3:397 --crop=1:3:297 $f.nrrd | rawinfo | grep -x 'nan: 1'; done
	psfmatch -t 7 --size=7 --degree=0 --subtract --sigma ref.noisy new.noisy | tail -c 480000 | cmp - <(tail -c 480000 sigma.nrrd)
	psfmatch --size=7 --degree=0 --subtract --noise=exchanged.nrrd --convolve=new new.noisy ref.noisy >out.nrrd
	rawinfo --robust exchanged.nrrd | awk -v want="$want" '/^median:/ { exit !(($2 / want - 1) ^ 2 < .05 ^ 2) }'
	fails 2 '--sigma: goes with --subtract' psfmatch --sigma ref.noisy new.noisy
	fails 2 '--noise: goes with --subtract' psfmatch --noise=noise.nrrd ref.noisy new.noisy
	fails 1 'where ref.noisy has 400x300' psfmatch --subtract --noise=none.nrrd ref.noisy blur.nrrd
	[ ! -e none.nrrd ]
}

@test "where light beyond an edge matters, the noise is NaN, and the difference is not" {
	noisy
	for name in ref new; do rawmath 'a + 5 * exp(-((x + 1)^2 + (y - 150)^2) / 4)' $name.noisy >$name.nrrd; done
	psfmatch --subtract --noise=noise.nrrd ref.nrrd new.nrrd | rawinfo | grep -x 'nan: 0'
	rawaxes --slice=0:0 --slice=1:150 noise.nrrd | rawinfo | grep -x 'nan: 1'
}

@test "--psf is the point spread function of the frame, beside REF or without it" {
	rawmath --sizes=400,300 '100 + 1000 * exp(-((x % 43.3 - 21)^2 + (y % 39.7 - 19)^2) / 4.5) + .1 * sin(x * 7 + y * 13)' >frame.nrrd
	psfmatch --degree=0 --psf=psf.nrrd frame.nrrd
	rawmath 'a - exp(-((x - 10)^2 + (y - 10)^2) / 4.5) / 14.137' psf.nrrd >off.nrrd
	least off.nrrd 1e-4
	wconv -k psf.nrrd --edge=nearest frame.nrrd | rawinfo | grep -q '^nan: 0'
	psfmatch --degree=0 --psf=beside.nrrd frame.nrrd frame.nrrd >kernel.nrrd
	cmp <(tail -c 1764 psf.nrrd) <(tail -c 1764 beside.nrrd)
	run -1 psfmatch --psf=none.nrrd <(rawmath --sizes=100,100 3)
	[ ! -e none.nrrd ]
	run -2 psfmatch --psf=psf.nrrd --subtract frame.nrrd
}

@test "an infinite pixel hides no saturated stars" {
	for name in ref new; do
		rawmath 'min(a, .4)' $name.nrrd >cut.nrrd && mv cut.nrrd $name.nrrd
		cp $name.nrrd $name.nan
		poke $name.nan 1234 nan
		poke $name.nrrd 1234 inf
	done
	for x in nan nrrd; do
		psfmatch --size=7 --degree=0 ref.$x new.$x | sed '/^history/d; /^#/d' >out.$x
	done
	cmp out.nan out.nrrd
}

@test "where stars are too few, the degree is taken for which they suffice" {
	field 8
	hints 'stars are too few for polynomials of degree 2, 0 were left out: --degree=0 was taken$' psfmatch --size=7 --stats=s ref.nrrd new.nrrd >k.nrrd
	[ "$(wc -l <stderr)" = 1 ]
	grep '"degree": 0' s
	remarks '' psfmatch --size=7 --degree=0 ref.nrrd new.nrrd >l.nrrd
	cmp <(tail -c 196 l.nrrd) <(tail -c 196 k.nrrd)
}

@test "kernels of a cut or a part know its place in the whole" {
	[ -x "$B/rawtofits" ] || skip "rawtofits is not built"
	for name in ref new; do
		rawtofits $name.nrrd | fitstoraw >$name.fits.nrrd
		rawaxes --crop=0:40:400 $name.fits.nrrd >$name.cut
		rawtile --columns=0,40 --rows=0 --only=1 $name.nrrd >$name.part
	done
	for kind in cut part; do
		psfmatch --size=7 ref.$kind new.$kind >k.$kind
		grep -ax 'zero:=219.5 149.5' k.$kind
	done
	cmp <(tail -c 1176 k.cut) <(tail -c 1176 k.part)
	psfmatch --size=7 --subtract ref.cut new.cut | tail -c 216000 >direct
	wconv -k k.cut --edge=nearest ref.cut | rawmath 'a - b' new.cut - | tail -c 216000 >by_wconv
	perl -e '@a = map { open my $f, $_; local $/; [unpack "f<*", <$f>] } @ARGV; exit 1 unless @{$a[0]} == 54000;
		abs($a[0][$_] - $a[1][$_]) < 1e-6 or exit 1 for 0 .. 53999' direct by_wconv
	rawaxes --flip=0 ref.fits.nrrd >flip
	fails 1 'it is flipped' psfmatch --quiet flip new.fits.nrrd
	sed 's/^tile:=40 0/tile:=39 0/' new.part >elsewhere
	fails 1 'another part of a picture' psfmatch ref.part elsewhere
}

@test "--stats counts stars, -v says the ratio of fluxes, whatever the unit without --gain" {
	hints 'ratio of fluxes \(1\|0.9999\|1.0000\)' psfmatch -v --size=7 --stats=s ref.nrrd new.nrrd >k.nrrd
	grep -E '"stars": [1-9][0-9]+, "rejected": [0-9]+, "ratio": (0\.9999|1)' s
	rawmath 'a / 1000000' ref.nrrd >small.nrrd
	rawmath 'a / 1000000' new.nrrd >new_small.nrrd
	hints 'ratio of fluxes \(1\|0.9999\|1.0000\)' psfmatch -v --size=7 small.nrrd new_small.nrrd >k.nrrd
}

@test "pixels that are not finite, or above --top, serve for nothing" {
	cp new.nrrd hole.nrrd
	for at in 7 40007 80207; do
		poke hole.nrrd $at nan
	done
	psfmatch --size=7 ref.nrrd hole.nrrd >k.nrrd
	wconv -k k.nrrd --edge=nearest ref.nrrd >out.nrrd
	least out.nrrd 1.1
	fails 1 'stars are too few' psfmatch --top=0.1 ref.nrrd new.nrrd
}

@test "a spike in the reference spoils nothing, and without stars in the new picture there is no kernel" {
	for at in 40007 60307 80207; do
		poke ref.nrrd $at 5e6
	done
	hints 'ratio of fluxes \(1\|0.9999\|1.0000\)' psfmatch -v --size=7 ref.nrrd new.nrrd >k.nrrd
	rawmath '0 * a + 7' new.nrrd >flat.nrrd
	fails 1 'flat.nrrd: 0 stars are too few' psfmatch ref.nrrd flat.nrrd
}

@test "a reference with the wider stars is said, with the ratio of fluxes and the remedy" {
	noisy
	hints 'ref.noisy: its stars are narrower than those of new.noisy: .* the ratio of fluxes, [01].[0-9]\+, may be wrong' \
		psfmatch --stats=s new.noisy ref.noisy >k.nrrd
	[ "$(wc -l <stderr)" = 1 ]
	grep 'exchange the two' stderr
	grep -E '"sharp": ([3-9]|2\.[6-9]|[1-9][0-9])' s
	remarks '' psfmatch ref.noisy new.noisy >k.nrrd
	remarks '' psfmatch --quiet new.noisy ref.noisy >k.nrrd
}

@test "--subtract convolves the picture of the narrower stars, and keeps the flux of what is new" {
	noisy
	rawmath '2 * a + exp(-((x - 200)^2 + (y - 150)^2) / 2) / (4 * 3.14159265)' ref.noisy >bright
	hints 'bright: its stars are narrower than those of new.noisy, so it was convolved' psfmatch --stats=s --subtract new.noisy bright >out.nrrd
	[ "$(wc -l <stderr)" = 1 ]
	grep -E '"ratio": (2\.0[01]|1\.9[89]).*"convolved": "new"' s
	samples out.nrrd | awk 'NR > 144 && NR <= 157 { for (i = 195; i <= 207; i++) sum += $i }
		NR < 130 { for (i = 30; i < 370; i++) square += $i ^ 2 }
		END { exit !((sum - .5) ^ 2 < .01 && square / 130 / 340 < 1e-4) }'
	psfmatch --quiet --convolve=new --subtract new.noisy bright | tail -c 480000 | cmp - <(tail -c 480000 out.nrrd)
	hints 'bright: its stars are narrower than those of new.noisy: the kernel sharpens' psfmatch --convolve=ref --subtract new.noisy bright >sharpened
	remarks '' psfmatch --subtract ref.noisy new.noisy >either
	cmp <(tail -c 480000 either) <(psfmatch --convolve=ref --subtract ref.noisy new.noisy | tail -c 480000)
	fails 2 '--convolve: goes with --subtract' psfmatch --convolve=new ref.noisy new.noisy
}

@test "--subtract convolves no picture whose kernel has the larger misfit, though it sharpens less" {
	echo -1 1 2 1 -1 | texttoraw --sizes=5,1 >blur.nrrd
	wconv -k blur.nrrd --normalise --edge=nearest ref.nrrd >new.nrrd
	noisy
	hints 'the kernel sharpens, .* wrong by some per cent$' psfmatch --subtract ref.noisy new.noisy >either.nrrd
	psfmatch --quiet --convolve=ref --subtract ref.noisy new.noisy | tail -c 480000 | cmp - <(tail -c 480000 either.nrrd)
}

@test "where the new stars are wide, so are the Gaussians, and the kernels where enough stars remain" {
	gen --type=float stars 400 300 150 >ref.nrrd
	{ printf 'P5 41 41 255\n'; head -c 1681 /dev/zero; } >blank.pgm
	rawmath 'exp(-((x - 20)^2 + (y - 20)^2) / 24)' blank.pgm >blur.nrrd
	wconv -k blur.nrrd --normalise --edge=nearest ref.nrrd >new.nrrd
	psfmatch --degree=1 --stats=s --subtract ref.nrrd new.nrrd >out.nrrd
	least out.nrrd 1e-5
	grep -E '"ratio": (0\.9999|1\.0000|1,).*"width": 8\.[0-9]+, "size": 31' s
	hints 'new.nrrd: kernels of 11x11 are too small for its stars, which are 8.2 pixels wide: the ratio of fluxes, 0.85' \
		psfmatch --degree=1 --size=11 ref.nrrd new.nrrd >k.nrrd
	remarks '' psfmatch --degree=1 --size=25 ref.nrrd new.nrrd >k.nrrd
	for name in ref new; do
		rawaxes --crop=0:0:100 --crop=1:60:140 $name.nrrd >$name.cut
	done
	fails 1 '1 stars are too few' psfmatch --size=31 --degree=0 ref.cut new.cut
	cmp <(psfmatch --degree=0 ref.cut new.cut | tail -c 1764) \
		<(psfmatch --degree=0 --size=21 ref.cut new.cut | tail -c 1764)
}

@test "a shift of some pixels is said, and is in the difference and the kernel" {
	gen --type=float stars 400 300 150 >all.nrrd
	local shift
	for shift in 1 3 7; do
		rawaxes --crop=0:0:380 --crop=1:0:290 all.nrrd >new.nrrd
		rawaxes --crop=0:$shift:$((380 + shift)) --crop=1:1:291 all.nrrd | sed '/^axis mins/d' >ref.nrrd
		psfmatch --size=15 --degree=0 --stats=s --subtract ref.nrrd new.nrrd 2>said >out.nrrd
		[ $shift -gt 1 ] || { [ ! -s said ] && continue; }
		grep "shifted by $shift.0,1.0 pixels: the reference was moved by $shift,1" said
		least out.nrrd 1e-3
		psfmatch --quiet --size=15 --degree=0 ref.nrrd new.nrrd >k.nrrd
		wconv -k k.nrrd ref.nrrd | rawmath 'x > 20 && x < 360 && y > 20 && y < 270 ? a - b : 0' a=- b=new.nrrd >left.nrrd
		least left.nrrd 1e-3
	done
}

@test "cosmic rays of either picture are not taken for stars, and are NaN in the difference" {
	noisy
	psfmatch --size=7 --degree=0 --stats=s ref.noisy new.noisy >want
	for n in $(seq 20); do
		for i in 0 1 2; do
			poke ref.noisy $(((n * 7 * 400) % 118000 + n * 131 % 390 + i)) $n
			poke new.noisy $(((n * 7 * 400) % 118000 + n * 173 % 390 + i * 400)) $n
		done
	done
	psfmatch --size=7 --degree=0 --stats=t --subtract ref.noisy new.noisy >out.nrrd
	for f in s t; do sed 's/.*"ratio": \([0-9.]*\),.*"convolved": \("[a-z]*"\).*/\1 \2/' $f; done |
		awk 'NR == 1 { want = $1 } END { exit !(NR == 2 && ($1 / want - 1) ^ 2 < 1e-4 && $2 == "\"ref\"") }'
	rawinfo out.nrrd | awk '/^nan:/ { exit !($2 >= 100 && $2 < 200) }' # most of 120, and what is beside them
}

@test "noise in a faint picture of wider stars is no sharpening" {
	rawmath 'a / 20' new.nrrd >faint.nrrd
	for name in ref faint; do
		gen noise 400 300 --seed=${#name} >noise.pgm
		rawmath 'a + (n / 255 - .5) * .02' a=$name.nrrd n=noise.pgm >$name.noisy
	done
	remarks '' psfmatch --degree=0 ref.noisy faint.noisy >k.nrrd
}

@test "fill values below the sky, and pixels above --top, are NaN in the difference" {
	noisy
	for fill in 0 -999; do
		rawmath "x < 20 && y > 9 ? $fill : a + 100" new.noisy >filled.nrrd
		remarks "psfmatch: filled.nrrd: 5800 pixels of the value $fill, far below the sky, count as unknown, and are NaN in a difference" \
			psfmatch --degree=0 --size=7 --subtract ref.noisy filled.nrrd >out.nrrd
		[ "$(rawinfo out.nrrd | sed -n 's/^nan: //p')" -eq 5800 ]
		least out.nrrd .2
	done
	psfmatch --degree=0 --size=7 --subtract --top=.9 ref.noisy new.noisy >out.nrrd
	[ "$(rawinfo out.nrrd | sed -n 's/^nan: //p')" -gt 0 ]
}

@test "a curved sky is said, with the remedy, and spoils no kernel" {
	noisy
	psfmatch -v --size=7 ref.noisy new.noisy 2>said >k.nrrd
	[ "$(wc -l <said)" = 1 ]
	rawmath 'a + .05 * ((x - 200) / 200)^2' new.noisy >curved
	psfmatch -v --size=7 ref.noisy curved 2>said >k.nrrd
	grep -E 'ratio of fluxes (0.9[89]|1.0[01])' said
	grep 'curved: at half of the stars the sky is off the background of degree 1 by' said
	for o in --quiet --background=2; do remarks '' psfmatch $o --size=7 ref.noisy curved >k.nrrd; done
}

@test "the 66 terms of a background of degree 10 are written, however long their numbers are" {
	rawmath '1e-20 * a' ref.nrrd >small.nrrd
	rawmath '1e-20 * (a - (1 + (x - 199.5) / 200 + (y - 149.5) / 150)^10)' ref.nrrd >new_small.nrrd
	psfmatch --size=7 --degree=0 --background=10 small.nrrd new_small.nrrd >k.nrrd
	grep -a '^background:=' k.nrrd | sed 's/.*=//' |
		awk 'NF == 66 && (1e20 * $1 + 1) ^ 2 < 1e-4 && (1e20 * $66 + 1) ^ 2 < 1e-2 { n++ } END { exit n != 1 }'
}

@test "pictures that do not match, and fields without stars, are refused" {
	gen noise 64 48 >a.pgm
	gen noise 48 64 >b.pgm
	fails 1 'b.pgm: 48x64 pixels, where a.pgm has 64x48' psfmatch a.pgm b.pgm
	gen constant 100 100 5 >flat.pgm
	fails 1 '0 stars are too few' psfmatch flat.pgm flat.pgm
	item float '3 2' -- 1 2 3 4 5 6 >small.nrrd
	fails 1 'too few pixels are known' psfmatch small.nrrd small.nrrd
	item float '3 2 2' -- 1 2 3 4 5 6 1 2 3 4 5 6 >stack.nrrd
	fails 1 'not one picture of one plane' psfmatch stack.nrrd stack.nrrd
	fails 2 'two pictures are needed' psfmatch a.pgm
	fails 2 '--size: 8 is even' psfmatch --size=8 a.pgm a.pgm
	fails 2 '--smooth: goes with --basis=delta' psfmatch --smooth=3 a.pgm a.pgm
	fails 2 'the most for --basis=delta' psfmatch --basis=delta --size=41 a.pgm a.pgm
}
