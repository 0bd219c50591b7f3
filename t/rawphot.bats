load lib

# rawphot: fluxes at places, against sums by hand.

prepare() {
	# shellcheck disable=SC2046 # samples are words
	item float '21 21' -- $(yes 1 | head -n 441) >ones
	printf 'P2 5 5 9 0 0 0 0 0 0 0 2 0 0 0 4 9 4 0 0 0 6 0 0 0 0 0 0 0\n' >five.pgm
}

# at 'PLACE OPTION... FILE' FIELD...: the row of the place has these fields behind x and y, to 1e-12 of each.
at() {
	rawphot --at=<(printf 'x,y\n%s\n' "${1%% *}") ${1#* } | tail -n 1 | cut -d, -f 3- | awk -F, -v want="${*:2}" '{ n = split(want, w, " ")
		for (i = 1; i <= n; i++) if (w[i] != $i && ($i - w[i]) ^ 2 > 1e-24 * w[i] ^ 2) { print $i, "for", w[i]; exit 1 } }'
}

@test "a constant picture gives the area of the circle, and of its part inside with flag 1" {
	at '10,10 --radius=.25,2.5 ones' .196349540849362 nan 19.6349540849362 nan 0 0
	for place in 10.5,10.5 9.7,10.2; do at "$place --radius=2 ones" 12.5663706143592 nan 0; done
	at '-.5,-.5 --radius=2 ones' 3.14159265358979 nan 1
	at '10,20.5 --radius=2 ones' 6.28318530717959 nan 1
	at '99,1e99 --radius=2 ones' nan nan 1
	at '10,10 --radius=1e3,1e9,1e300 ones' 441 nan 441 nan 441 nan 1
}

@test "errors are those of noise and photons; a ring gives the level, and an error where no noise is given" {
	rawmath 'a * 3' ones >three
	for n in 3 three; do at "10,10 --radius=2 --noise=$n ones" 12.5663706143592 10.6347231054331; done
	at '10,10 --radius=2 --gain=4 ones' 12.5663706143592 1.77245385090552
	# The four pixels at 1 have a mean of 4 and a variance of 2: A (9 - 4), and A 2 + A^2 2 / 4 for A = pi / 16.
	at '2,2 --radius=.25 --annulus=1,1.4142 five.pgm' 4 .98174770424681 .641853295383456 0
	at '2,2 --radius=.25 --annulus=9,10 five.pgm' nan nan nan 0
	# Of the samples of this ring, one is 1000, and is left out.
	rawmath 'x == 12 && y == 11 ? 1000 : a' ones >a
	at '10,10 --radius=1 --annulus=1.5,3.1 a' 1 0 0 0
	# The mean of equal samples is rounded, and leaves none of them out.
	for v in .3 .7 12345.678; do
		rawmath --type=double "x == 12 && y == 11 ? 1e4 * $v : $v" ones >a
		for to in 3.1 4.2 6; do at "10,10 --radius=1 --annulus=1.5,$to a" $v; done
	done
}

@test "flag 2 is of missing samples, and 4 of neighbours" {
	rawmath 'x == 10 && y == 10 ? nan : a' ones >a
	at '10,10 --radius=2 a' 11.5663706143592 nan 2
	at '10,10 --radius=.3 a' nan nan 2
	printf 'x,y\n0,4\n3,4\n9,9\n' | rawphot --at=- --radius=3,1 ones | cut -d, -f 1-2,7 >got
	same got "$(printf 'x,y,flags\n0,4,5\n3,4,4\n9,9,0')"
}

@test "--labels: samples of a neighbour are those on the other side, or none" {
	# A neighbour of 100 covers the column to the right of 10, then that to the left, too.
	rawmath 'x == 11 ? 100 : x == 9 ? 3 : 1' ones >a
	rawmath 'x == 11 ? 2 : x == 10 && y == 10 ? 1 : 0' ones >right
	rawmath 'x == 9 ? 3 : a' right >both
	of() { rawphot --at=<(printf 'x,y,label\n10,10,1\n') --radius=20 "$@" <(rawaxes --crop=0:9:12 --crop=1:10:11 a) | tail -n 1 | cut -d, -f 3,5; }
	same <(of) 104,1
	same <(of --labels=<(rawaxes --crop=0:9:12 --crop=1:10:11 right)) 7,1
	same <(of --labels=<(rawaxes --crop=0:9:12 --crop=1:10:11 both)) 1,1
	fails 1 '--labels: the shapes differ' rawphot --at=<(printf 'x,y,label\n1,1,1\n') --radius=1 --labels=five.pgm ones
	fails 1 'it has no label' rawphot --at=<(printf 'x,y\n1,1\n') --radius=1 --labels=right ones
}

@test "--kron takes the moments of the places: of a pixel, and of axes that change places" {
	rawmath 'x == 10 && y == 10 ? 7 : 0' ones >a
	rawphot --kron --at=<(printf 'x,y,xx,yy,xy\n10,10,0,0,0\n') --noise=1 a | grep -x '10,10,7,1.790821738[0-9]*,3.5,0,0'
	rawmath 'exp(-((x - 9.5)^2 / 3 + (y - 11)^2 / 9 + (x - 9.5) * (y - 11) / 5))' ones >b
	{ rawphot --kron --at=<(printf 'x,y,xx,yy,xy\n9.5,11,1.5,4.5,-.8\n') b &&
		rawphot --kron --at=<(printf 'y,x,yy,xx,xy\n9.5,11,1.5,4.5,-.8\n') <(rawaxes --order=1,0 b); } |
		awk -F, 'NR == 2 { f = $3; k = $5 } END { exit !(k > 3.5 && ($3 - f) ^ 2 < 1e-24 && ($5 - k) ^ 2 < 1e-24) }'
}

@test "rawlabel's table gives the places of items; FITS has positions and the sky; bad places are refused" {
	rawlabel --to=csv ones five.pgm >places
	same <(rawphot --radius=.5 --at=places ones five.pgm | cut -d, -f 1-3,6 | paste -sd ' ') \
		'x,y,flux_0.5,item 10,10,0.785398163397448,0 2,2,7.06858347057703,1'
	rawtofits five.pgm | fitstoraw | sed '0,/^fits.NAXIS:/s//fits.CTYPE1:='"'RA---ARC'\nfits.CTYPE2:='DEC--ARC'"'\n&/' | rawaxes --flip=0 --crop=1:1:5 |
		rawphot --radius=.25 --at=<(printf 'y,x\n2,3\n') | cut -d, -f 1-5 | grep -x '3,2,4.00[0-9]*,2.99[0-9]*,0.785398163397448'
	for bad in 'x,z\n1,2\n' 'x,y\n1,two\n' 'x,y\n1\n'; do fails 1 'line 2: it has no x and y' rawphot --radius=1 --at=<(printf "$bad") ones; done
	fails 1 'it has no x, y, xx, yy and xy' rawphot --kron --at=<(printf 'x,y\n1,2\n') ones
	fails 1 '--noise: the shapes differ' rawphot --radius=1 --noise=five.pgm --at=places ones
	fails 2 '--annulus: 5,3 is not 0 <= IN < OUT' rawphot --at=places --radius=1 --annulus=5,3 ones
}

@test "rows come in the order of the places, whatever the number of threads" {
	{ echo x,y && for i in {0..20}; do for j in {0..99}; do echo "$i,$((j % 21)).$j"; done; done; } >places
	rawmath 'x + 3 * y' ones >a
	for t in 1 2 7; do rawphot -t $t --at=places --radius=1.5,3 a >$t && cmp 1 $t; done
	cut -d, -f 1 places | cmp - <(cut -d, -f 1 1)
}
