# shellcheck disable=SC2046 # numbers are words
load lib

# rawnmo: normal moveout correction and its inverse.

# sines HZ [LINE ...]: traces of a sine at offsets 0, 500 and 1000, of 400 samples of 4 ms.
sines() {
	item float '400 3' 'spacings: 0.004 nan' 'offsets:=0 500 -1000' "${@:2}" -- $(awk -v f="$1" 'BEGIN {
		for (i = 0; i < 1200; i++) printf "%.9g ", sin(8 * atan2(1, 1) * f * .004 * (i % 400)) }')
}

# near MOST FIRST A B: from sample FIRST to 360 they differ, by less than MOST, where neither is 0.
near() {
	rawmath 'a == 0 || b == 0 ? 0 : abs(a - b)' "$3" "$4" | rawaxes --crop=0:"$2":361 | rawinfo |
		awk -v most="$1" '/^max:/ { print; n = $2 > 0 && $2 < most } END { exit !n }'
}

@test "rawnmo: a spike on a hyperbola comes to its t0 in every trace" {
	item short '50 4' 'spacings: 0.02 nan' 'offsets:=0 160 -400 720' -- $(awk 'BEGIN {
		at[15] = at[67] = at[125] = at[189] = 1; for (i = 0; i < 200; i++) print at[i] + 0 }') >a
	rawnmo --velocity=0:1000 --stretch=0 a >b
	same <(rawaxes --slice=0:15 b | rawmath 'round(1e4 * a)' | rawtotext | paste -sd ' ') '10000 10000 10000 10000'
	sed '/^offsets/d' a | rawnmo --velocity=0:1000 --stretch=0 --offsets=<(echo 0 160 -400 720) | rawtotext | cmp - <(rawtotext b)
}

@test "rawnmo: the formula, at half of the Nyquist frequency, and the mute; the inverse gives the gather back" {
	sines 62.5 >a && rawnmo --velocity=.5:1500,1.5:2500 a >got
	awk 'function t(i, x) { t0 = .004 * i; v = 1000 + 1000 * t0; v = v < 1500 ? 1500 : v > 2500 ? 2500 : v; return sqrt(t0^2 + (x / v)^2) }
		BEGIN { for (x = 0; x <= 1000; x += 500) { for (i = 399; i >= 0; i--) if (1.5 * (t(i + 1, x) - t(i, x)) < .004 * (1 - 1e-9)) break
			for (k = 0; k < 400; k++) print (k <= i || t(k, x) > .004 * 399 ? 0 : sin(500 * atan2(1, 1) * t(k, x))) } }' |
		texttoraw --type=float --sizes=400,3 >want
	near .0012 8 got want
	rawmath '(a == 0) != (b == 0) && abs(a - b) > .0012' got want | rawinfo | grep -x 'max: 0'
	rawnmo --velocity=.5:1500,1.5:2500 -t 3 a | cmp - got
	sines 30 >a
	rawnmo --velocity=0:1500,3:2500 a | rawnmo --inverse --velocity=0:1500,3:2500 >b
	near .0015 240 a b
}

@test "rawnmo: a table of velocities is linear between two cdps and constant beyond" {
	printf '# cdp velocities\n10 0:1500,1:2000\n\n20 .5:1900,1:2400 # deep\n' >table
	for way in '5 0:1500,1:2000' '10 0:1500,1:2000' '15 0:1700,.5:1825,1:2200' '21 .5:1900,1:2400'; do
		sines 20 "cdp:=${way% *}" >a
		rawmath 'abs(a - b) < 1e-5' <(rawnmo --velocity=table a) <(rawnmo --velocity="${way#* }" a) | rawinfo | grep -x 'min: 1'
	done
	fails 1 'no cdp:= of one gather' rawnmo --velocity=table <(sines 20)
	fails 1 'line 2: no cdp above the one before' rawnmo --velocity=<(printf '10 0:1500\n10 0:1500\n') a
}

@test "rawnmo: from SEG-Y to SEG-Y, by radon, every header is kept" {
	gencmp --traces=24 --step=100 --gathers=2 | rawtosegy >g.sgy
	segytoraw g.sgy | rawnmo --velocity=0:9000 | radon -q -.3:.6:91 -X 2400 --mute=.05 --subtract --quiet |
		rawnmo --inverse --velocity=0:9000 | rawtosegy --headers=g.sgy >p.sgy
	cmp <(segytoraw g.sgy | rawmath 'a - a' | rawtosegy --headers=g.sgy) <(segytoraw p.sgy | rawmath 'a - a' | rawtosegy --headers=p.sgy)
	segytoraw p.sgy | rawinfo | grep '^max: 0.[5-9]'
}

@test "rawnmo: NaN stays where it is, and what is no gather is refused" {
	sines 20 >a
	rawmath 'a > .99 ? nan : a' a | rawnmo --velocity=0:1500 | rawinfo | grep '^nan: [1-9]'
	for list in 1:1500,0:1600 0:0 0:-5 "0:1500," 1500 :; do fails 2 "'$list' is not T:V,T:V... with times" rawnmo --velocity="$list" a; done
	fails 1 'no offsets: give --offsets, an offsets:= key' rawnmo --velocity=0:1500 <(sed '/^offsets/d' a)
	fails 1 '2 offsets for 3 traces' rawnmo --velocity=0:1500 <(sed 's/^offsets.*/offsets:=1 2/' a)
	rawaxes --crop=1:1:2 a | rawnmo --velocity=0:1.5 2>&1 >b | grep 'all is muted: are velocities in'
}
