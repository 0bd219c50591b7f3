load lib

prepare() {
	# two points, 0 and 1/4, of values 1 and 1: F_k = 1 + exp(-2 pi i k / 4)
	doubles 3x2 0 1 0 .25 1 0 >pv.nrrd
	doubles 1x3 0 .25 .5 >p.nrrd
	doubles 4 0 0 1 0 >f.nrrd # the mode 0 alone
	doubles 1x2 0 .25 >q.nrrd
	doubles 2 1 1 >v.nrrd
}

# doubles SIZES NUMBER...: an item of type double.
doubles() {
	gen --type=double -- values "$@"
}

# numbers: the samples of the item on stdin, rounded to 4 digits behind the point, in one line.
numbers() {
	cat >numbers.nrrd
	samples numbers.nrrd | xargs -n1 printf '%.4f\n' | sed 's/^-\(0\.0000\)$/\1/' | xargs
}

# columns NAMES: the item on stdin with that key.
columns() {
	LC_ALL=C sed "0,/^encoding: raw$/s//encoding: raw\ncolumns:=$1/"
}

@test "sums by hand: types, signs, adjoints, axes, parts, pictures, short axes" {
	doubles 4 0 1 0 0 >m.nrrd # the mode -1
	doubles 1x2 0 1.5 >to.nrrd
	doubles 2 0 1 >values.nrrd
	doubles 4x1 .25 .5 1 0 >plane.nrrd # exp(-2 pi i (k/4 + l/2))
	doubles 3x1 .25 2 0 >point.nrrd
	pgm 2 1 9 3 4 >picture.pgm
	doubles 2x1 0 0 >centre.nrrd
	gen --type=double constant 3 20000 .25 >same.nrrd
	gen --type=float values 3x2 0 1 0 .25 1 0 >float.nrrd
	while IFS='|' read -r want args; do
		[ "$(usfft $args | numbers)" = "$want" ]
	done <<'END'
0.0000 0.0000 1.0000 1.0000 2.0000 0.0000 1.0000 -1.0000|-T 1 -n 4 pv.nrrd
0.0000 0.0000 1.0000 1.0000 2.0000 0.0000 1.0000 -1.0000|-T 1 -n 4 -e 1e-5 float.nrrd
0.0000 0.0000 1.0000 -1.0000 2.0000 0.0000 1.0000 1.0000|-s + -T 1 -n 4 pv.nrrd
1.0000 0.0000 0.0000 1.0000 -1.0000 0.0000|-T 2 -p p.nrrd m.nrrd
1.0000 0.0000 0.0000 -1.0000 -1.0000 0.0000|-T 1 --adjoint -p p.nrrd m.nrrd
2.0000 0.0000 0.2929 -0.7071|-T 3 --targets=to.nrrd pv.nrrd
1.0000 0.0000 -0.7071 0.7071 0.0000 -1.0000|-T 3 --adjoint -p p.nrrd --targets=to.nrrd values.nrrd
0.0000 -1.0000 -1.0000 0.0000 0.0000 1.0000 1.0000 0.0000|-T 1 -n 2,2 plane.nrrd
7.0000 0.0000|-T 2 -p centre.nrrd picture.pgm
0.0000 1.0000 2.0000 1.0000|-T 1 -n 4 --output=real pv.nrrd
0.0000 1.0000 0.0000 -1.0000|-T 1 -n 4 --output=imag pv.nrrd
1.0000 1.0000 1.0000|-T 2 -p p.nrrd --output=abs f.nrrd
2.0000 0.0000|-T 1 -n 1 pv.nrrd
1.0000 1.0000 2.0000 0.0000 1.0000 -1.0000|-T 1 -n 3 pv.nrrd
1.0000 1.0000 2.0000 0.0000|-T 1 -n 2 -e 1e-13 pv.nrrd
0.0000 2.0000 2.0000 0.0000|-T 1 -n 2 point.nrrd
-5000.0000 5000.0000|-T 1 -n 2 -e 1e-9 --output=real same.nrrd
END
	usfft -T 1 -n 4 pv.nrrd | says 'axis mins: nan -2' 'kinds: complex domain'
	usfft -T 1 -n 4 -e 1e-5 float.nrrd | says 'type: float'
}

@test "points come beside the values, from a file, or once ahead of them" {
	doubles 2 1 0 >w.nrrd
	want=$(usfft -T 1 -n 4 pv.nrrd | numbers)
	[ "$(usfft -T 1 -n 4 -p q.nrrd v.nrrd | numbers)" = "$want" ]
	[ "$(usfft -T 1 -n 4 --batch q.nrrd v.nrrd | numbers)" = "$want" ]
	cat q.nrrd v.nrrd w.nrrd v.nrrd | usfft -T 1 -n 4 --batch >out.nrrd
	usfft -T 1 -n 4 --batch q.nrrd v.nrrd >one.nrrd
	usfft -T 1 -n 4 --batch q.nrrd w.nrrd >two.nrrd
	cat one.nrrd two.nrrd one.nrrd | cmp - out.nrrd
	fails 1 'no values behind the points' usfft -T 1 -n 4 --batch q.nrrd
}

@test "items on the same points have the same bytes alone, in a stream, and on any number of threads" {
	awk 'BEGIN { for (j = 0; j < 90; j++) print (j * j % 97) / 97 - .5, (j * 31 % 89) / 89 - .5 }' | texttoraw >p.nrrd
	for i in {1..23}; do
		awk -v i=$i 'BEGIN { for (j = 0; j < 90; j++) print sin(i * j), cos(j + i) }' | texttoraw | sed '/^columns/d;s/^kinds: list domain/kinds: complex domain/' >v$i.nrrd
		usfft -T 1 -n 9,8 -p p.nrrd v$i.nrrd >f$i.nrrd
		usfft -T 2 -p p.nrrd f$i.nrrd >c$i.nrrd
	done
	for t in 1 2 3; do
		cat v{1..23}.nrrd | usfft -t $t -T 1 -n 9,8 -p p.nrrd >f
		cat f{1..23}.nrrd | cmp - f
		usfft -t $t -T 2 -p p.nrrd <f >c
		cat c{1..23}.nrrd | cmp - c
	done
	# Another shape between them.
	doubles 4x3 {1..12} >small.nrrd
	usfft -T 2 -p p.nrrd small.nrrd >s
	cat f1.nrrd f2.nrrd small.nrrd f3.nrrd | usfft -T 2 -p p.nrrd >c
	cat c1.nrrd c2.nrrd s c3.nrrd | cmp - c
}

@test "items before one that fails are written" {
	doubles 3 1 1 1 >other.nrrd
	usfft -T 1 -n 4 -p q.nrrd v.nrrd v.nrrd >want
	for bad in other.nrrd /dev/null; do
		for i in v.nrrd v.nrrd $bad v.nrrd; do cat "$i"; done | head -c -1 >many.nrrd
		fails_later 1 '' usfft -T 1 -n 4 -p q.nrrd many.nrrd
		head -c "$(wc -c <want)" stdout | cmp - want
	done
	usfft -T 2 -p q.nrrd <want >values
	{ cat want; echo garbage; } >two
	fails_later 1 '' usfft -T 2 -p q.nrrd two
	cmp values stdout
}

@test "a result is written before the next item arrives" {
	usfft -T 1 -n 4 -p q.nrrd v.nrrd >want
	one_by_one v.nrrd want usfft -T 1 -n 4 -p q.nrrd
}

@test "three columns without names are a point in space where values come apart" {
	doubles 3x2 .1 .2 .3 -.4 0 .25 >points.nrrd
	columns 'x y z' <points.nrrd >named.nrrd
	doubles 4x2x3 {1..24} >modes.nrrd
	usfft -T 2 -p named.nrrd modes.nrrd | rawtotext >values
	usfft -T 2 -p points.nrrd modes.nrrd | rawtotext | diff - values
	usfft -T 2 --batch points.nrrd modes.nrrd | rawtotext | diff - values
}

@test "columns are told by their names" {
	doubles 4x2 1 0 9 0 1 0 9 .25 | columns 're im junk x' >named.nrrd
	[ "$(usfft -T 1 -n 4 named.nrrd | numbers)" = "$(usfft -T 1 -n 4 pv.nrrd | numbers)" ]
	doubles 3x2 0 1 0 .25 1 0 | columns 'x im re' >bad.nrrd
	fails 1 're and im must stand side by side' usfft -T 1 -n 4 bad.nrrd
	doubles 3x2 0 1 0 .25 1 0 | columns 'x re' >bad.nrrd
	fails 1 'does not name 3 columns' usfft -T 1 -n 4 bad.nrrd
}

@test "the inverse finds the modes of given values" {
	doubles 1x5 0 .25 .5 .1 .7 >p.nrrd
	doubles 3 4 5 6 >f.nrrd
	usfft -T 2 -e 1e-12 -p p.nrrd f.nrrd >v.nrrd
	for w in '' --weights=pipe; do
		[ "$(usfft -T 2 --inverse $w -e 1e-12 --rtol=1e-9 -n 3 -p p.nrrd v.nrrd | numbers)" = "4.0000 0.0000 5.0000 0.0000 6.0000 0.0000" ]
	done
	hints 'iteration 1, residual' usfft -T 2 --inverse -v --iter=1 --rtol=0 -n 3 -p p.nrrd v.nrrd >out.nrrd
	grep -q 'after 1 iterations' stderr
}

@test "weights come from a file, and go to one" {
	doubles 3x3 0 1 0 .25 1 0 .5 1 0 >three.nrrd
	doubles 3 1 2 0 >w.nrrd
	[ "$(usfft -T 1 -n 1 --weights=w.nrrd three.nrrd | numbers)" = "3.0000 0.0000" ]
	usfft -T 1 -n 8 --weights=pipe --weights-to=pipe.nrrd three.nrrd >want
	usfft -T 1 -n 8 --weights=pipe.nrrd --weights-to=again.nrrd three.nrrd >got
	[ "$(numbers <want)" = "$(numbers <got)" ]
	[ "$(numbers <pipe.nrrd)" = "$(numbers <again.nrrd)" ]
	doubles 1x3 0 .25 .5 >at.nrrd
	doubles 3 1 1 1 >v.nrrd # weights are written once for points that serve all items
	cat at.nrrd v.nrrd v.nrrd | usfft -T 1 -n 1 --batch --weights=w.nrrd --weights-to=again.nrrd >out
	[ "$(numbers <again.nrrd)" = "1.0000 2.0000 0.0000" ]
	tail -c 16 out | od -An -tf8 | awk '{ exit !($1 > 2.9999 && $1 < 3.0001) }'
	fails 1 'w.nrrd: 3 weights for 2 points' usfft -T 1 -n 4 --weights=w.nrrd pv.nrrd
	doubles 2 1 -1 >bad.nrrd
	fails 1 'bad.nrrd: weight 1 is -1' usfft -T 1 -n 4 --weights=bad.nrrd pv.nrrd
	fails 2 '--weights-to: goes with' usfft -T 1 -n 4 --weights-to=w pv.nrrd
}

@test "damping shrinks the inverse, values of 0 have modes of 0, and weights of 0 none" {
	doubles 1x4 0 .25 .5 .75 >at.nrrd
	doubles 4 4 0 0 0 >v.nrrd # the mode 0 alone would be 1
	[ "$(usfft -T 2 --inverse -n 1 -p at.nrrd v.nrrd | numbers)" = "1.0000 0.0000" ]
	[ "$(usfft -T 2 --inverse -n 1 --damp=1 -p at.nrrd v.nrrd | numbers)" = "0.5000 0.0000" ]
	doubles 4 0 0 0 0 >zeros.nrrd
	[ "$(usfft -T 2 --inverse -n 3 -p at.nrrd --output=real zeros.nrrd | numbers)" = "0.0000 0.0000 0.0000" ]
	fails 1 'zeros.nrrd: all weights are 0' usfft -T 2 --inverse --weights=zeros.nrrd -n 3 -p at.nrrd v.nrrd
	fails 2 '--damp: goes with --inverse' usfft -T 1 --damp=1 -n 4 pv.nrrd
}

@test "coils see one image, each by its map" {
	doubles 1x2 0 .5 >at.nrrd # too few for 4 modes, but not for two coils that see half of them
	doubles 4x2 1 1 0 0 0 0 1 1 >maps.nrrd
	# modes -2..1 are 1 2 3 4; coil 0 sees 1 2, coil 1 sees 3 4
	doubles 2x2 3 -1 7 -1 >v.nrrd
	usfft -T 2 --inverse -e 1e-12 --rtol=1e-9 --coils=maps.nrrd -n 4 -p at.nrrd --output=real v.nrrd >out
	[ "$(numbers <out)" = "1.0000 2.0000 3.0000 4.0000" ]
	# Damping does not depend on the unit of maps: F with maps S and values b is F / 1000 with maps 1000 S.
	usfft -T 2 --inverse -e 1e-12 --rtol=1e-9 --damp=.5 --coils=maps.nrrd -n 4 -p at.nrrd --output=real v.nrrd | rawmath 'a / 1000' >out
	usfft -T 2 --inverse -e 1e-12 --rtol=1e-9 --damp=.5 --coils=<(rawmath 'a * 1000' maps.nrrd) -n 4 -p at.nrrd \
		--output=real v.nrrd >scaled
	[ "$(rawmath 'a * 1000' <out | numbers)" = "$(rawmath 'a * 1000' <scaled | numbers)" ]
	doubles 2 3 -1 >one.nrrd
	fails 1 '2 values for 2 coils and 2 points' usfft -T 2 --inverse --coils=maps.nrrd -n 4 -p at.nrrd one.nrrd
	fails 1 'maps.nrrd: its sizes are not those of -n' usfft -T 2 --inverse --coils=maps.nrrd -n 3 -p at.nrrd v.nrrd
	fails 2 '--coils: needs the points' usfft -T 2 --inverse --coils=maps.nrrd -n 4 pv.nrrd
}

@test "total variation: an edge by hand, few spokes of a piecewise constant picture, none, and any number of threads" {
	doubles 1x4 -.5 -.25 0 .25 >at.nrrd # A* A is 4 times the identity
	doubles 4 0 0 4 4 | usfft -T 2 -e 1e-12 -p at.nrrd >v.nrrd
	# 4 (2 a^2 + 2 (4 - b)^2) + .5 * 16 (b - a) is least at .5 and 3.5
	usfft -T 2 --inverse -e 1e-12 --rtol=1e-9 --iter=1000 --tv=.5 -n 4 -p at.nrrd --output=real v.nrrd >out
	[ "$(numbers <out)" = "0.5000 0.5000 3.5000 3.5000" ]
	awk 'BEGIN { for (y = 0; y < 24; y++) for (x = 0; x < 24; x++) print (x > 5 && x < 15 && y > 8 && y < 20) + 2 * (x > 10 && y < 16) }' |
		texttoraw --sizes=24,24 >picture.nrrd
	awk 'BEGIN { for (a = 0; a < 9; a++) for (r = -24; r < 24; r++) print r / 48 * cos(a / 3), r / 48 * sin(a / 3) }' | texttoraw >spokes.nrrd
	usfft -T 2 -p spokes.nrrd picture.nrrd >v.nrrd
	set -- usfft --quiet -T 2 --inverse -n 24,24 -p spokes.nrrd --output=real
	"$@" -o plain.nrrd v.nrrd
	"$@" --tv=0 v.nrrd | tail -c 4608 | cmp - <(tail -c 4608 plain.nrrd)
	"$@" --tv=.001 --iter=300 -t 1 -o tv.nrrd v.nrrd
	"$@" --tv=.001 --iter=300 -t 7 v.nrrd | cmp - tv.nrrd
	for of in plain tv; do
		rawmath '(a - b)^2' $of.nrrd picture.nrrd | rawtotext | awk '{ for (i = 1; i <= NF; i++) s += $i } END { print s }' >$of
	done
	awk '{ getline tv <"tv"; exit !(tv * 10 < $1) }' plain
	fails 2 '--tv: goes with --inverse' usfft -T 1 --tv=1 -n 4 pv.nrrd
	fails 2 '--tv: is for the CPU' usfft -g -T 2 --inverse --tv=1 -n 4 pv.nrrd
}

@test "maps of coils are found in the data" {
	# Two coils see a disk with the constant factors 3 and 4 i: the maps are .6 and .8 i, but for a phase.
	pgmramp -ellipse 32 32 | pamthreshold -simple -threshold=.2 | pamtopnm | pgmtoraw >disk.nrrd
	awk 'BEGIN { for (a = 0; a < 60; a++) for (r = -32; r < 32; r++) print r / 64 * cos(a * atan2(0, -1) / 60), r / 64 * sin(a * atan2(0, -1) / 60) }' |
		texttoraw >spokes.nrrd
	usfft -T 2 -p spokes.nrrd disk.nrrd | rawtotext | awk '{ for (i = 1; i < NF; i += 2) { a = a "\n" (3 * $i) " " (3 * $(i + 1)); b = b "\n" (-4 * $(i + 1)) " " (4 * $i) } } END { print a b }' |
		texttoraw --sizes=2,3840,2 | sed '/^columns/d;s/^kinds: [a-z]*/kinds: complex/' >v.nrrd
	usfft -T 2 --inverse --maps=auto --maps-to=maps.nrrd --damp=.001 -n 32,32 -p spokes.nrrd -o image.nrrd v.nrrd
	grep -aqx 'sizes: 2 32 32 2' maps.nrrd
	samples maps.nrrd | xargs -n2 | awk '{ re[NR - 1] = $1; im[NR - 1] = $2 } END { a = 16 * 32 + 16; b = a + 1024
		print int(1000 * sqrt(re[a] ^ 2 + im[a] ^ 2) + .5), int(1000 * (re[b] * re[a] + im[b] * im[a]) + .5), int(1000 * (im[b] * re[a] - re[b] * im[a]) + .5)
	}' >ratio
	[ "$(tr -d - <ratio)" = "600 0 480" ]
	usfft -t 7 -T 2 --inverse --coils=auto --damp=.001 -n 32,32 -p spokes.nrrd v.nrrd | tail -c 16384 | cmp - <(tail -c 16384 image.nrrd)
	usfft -T 2 --inverse --coils=maps.nrrd --damp=.001 -n 32,32 -p spokes.nrrd v.nrrd | tail -c 16384 | cmp - <(tail -c 16384 image.nrrd)
	doubles 2x1 .4 .4 >far.nrrd
	doubles 1x2 1 1 >w.nrrd
	fails 1 'finds no maps' usfft -T 2 --inverse --coils=auto -n 100,100 -p far.nrrd w.nrrd
	fails 1 'bytes for the matrix of --coils=auto' usfft --max-bytes=500k -T 2 --inverse --coils=auto -n 32,32 -p spokes.nrrd v.nrrd
	fails 2 '--coils: is for the CPU' usfft -g -T 2 --inverse --coils=auto -n 4 -p spokes.nrrd v.nrrd
	fails 2 '--coils-to: goes with --coils' usfft -T 2 --inverse --coils-to=m -n 4 -p spokes.nrrd v.nrrd
}

@test "stats tell the stages apart" {
	usfft -T 1 -n 64 --stats=s pv.nrrd >out
	for stage in sort spread fft deconvolve taps; do
		grep -q "\"$stage\": " s
	done
	doubles 1x2 0 1.5 >to.nrrd
	usfft -T 3 --targets=to.nrrd --stats=s3 pv.nrrd >out
	usfft -T 2 --inverse -n 2 --stats=si pv.nrrd >out
	for s in s s3 si; do # no stage took no time
		[ "$(grep -o '"\(sort\|spread\|fft\|deconvolve\)": 0.000000000' $s)" = "" ]
	done
}

@test "points from a pipe, in pieces, give the bytes of a file" {
	gen --type=double noise 4 30000 >many.nrrd # 960 kB
	for t in 1 2; do
		usfft -t $t -T 1 -n 50,60 many.nrrd >file.nrrd
		cat many.nrrd | usfft -t $t -T 1 -n 50,60 | cmp - file.nrrd
	done
	usfft -T 1 -n 3,3 many.nrrd many.nrrd >file.nrrd # more points than cells
	cat many.nrrd many.nrrd | usfft -T 1 -n 3,3 | cmp - file.nrrd
	head -c -8 many.nrrd | fails 1 'the payload ends after 959992 of 960000 bytes' usfft -T 1 -n 50,60
	spoil many.nrrd 80000 >bad.nrrd
	for t in 1 2; do fails 1 'point 20000 has a coordinate or value that is NaN' usfft -t $t -T 1 -n 50,60 bad.nrrd; done
}

# spoil FILE INDEX: prints the file of doubles with +Inf, -Inf or NaN in place of the number with that index.
spoil() {
	local head=$(($(rawinfo --skip "$1") + 8 * $2)) end=('\0\0\360\177' '\0\0\360\377' '\0\0\370\177')
	head -c $head "$1"
	printf '\0\0\0\0'"${end[$2 % 3]}"
	tail -c +$((head + 9)) "$1"
}

@test "a number that is not finite is refused wherever it stands, on one thread and on two" {
	local at each name cmd what
	gen --type=double noise 4 5000 | sed 's/^dimension.*/&\ncolumns:=x y re im/' >pv.nrrd # 5000: the sort has two shares
	gen --type=double noise 2 5000 >p.nrrd
	gen --type=double values 2x2 .1 .2 .3 .4 >to.nrrd
	gen --type=double noise 60 50 >f.nrrd
	gen --type=double -- values 3x2 90 0 10 5 80 20 >uvw.nrrd
	gen --type=double noise 1 5000 >v.nrrd
	while read -r what at each name cmd; do
		for i in 0 $((at / 2)) $at; do
			spoil $what.nrrd $i >bad.nrrd
			fails 1 "$name $((i / each)) " usfft --quiet -t 1 $cmd < <(cat bad.nrrd)
			fails 1 "$name $((i / each)) " usfft --quiet -t 2 $cmd bad.nrrd
		done
	done <<'END'
f 2999 1 mode -T 2 -p p.nrrd
f 2999 1 mode -T 1 --adjoint -p p.nrrd
f 2999 1 pixel -T 2 -p uvw.nrrd --pixel=.02
pv 19999 4 point -T 1 -n 60,50
pv 19999 4 point -T 1 -n 60,50 --weights=pipe
pv 19999 4 point -T 2 --adjoint -n 60,50
pv 19999 4 point -T 2 --inverse -n 60,50
pv 19999 4 point -T 3 --targets=to.nrrd
v 4999 1 point -T 1 -n 60,50 -p p.nrrd
v 4999 1 point -T 2 --inverse -n 60,50 -p p.nrrd
v 4999 1 point -T 3 -p p.nrrd --targets=to.nrrd
v 4999 1 point -T 3 --adjoint -p to.nrrd --targets=p.nrrd
END
	doubles 2x2 0 0 0 nan >to.nrrd
	fails 1 'target 1 is NaN or infinite' usfft -T 3 --targets=to.nrrd pv.nrrd
}

@test "points outside the box are folded; strict refuses them" {
	doubles 3x2 -7 1 0 1.25 1 0 >far.nrrd
	[ "$(usfft -T 1 -n 4 far.nrrd | numbers)" = "$(usfft -T 1 -n 4 pv.nrrd | numbers)" ]
	fails 1 'point 0 lies outside [-1/2,1/2)' usfft --strict -T 1 -n 4 far.nrrd
	usfft --strict -T 1 -n 4 pv.nrrd >out
}

@test "trajectories have points, spokes or rows, in cycles, radians or from -N/2 to N/2, and values are columns re im" {
	awk 'BEGIN { for (j = 0; j < 8; j++) print sin(j) / 2.1, cos(3 * j) / 2.1 }' >t
	texttoraw t >cycles
	texttoraw --sizes=2,4,2 t >spokes
	rawaxes --order=1,0 cycles >rows
	sed '1i junk kx ky
;s/^/9 /' t | texttoraw --header >names
	awk -v OFMT=%.17g '{ print $1 * 8 * atan2(1, 1), $2 * 8 * atan2(1, 1) }' t | texttoraw >radians
	awk -v OFMT=%.17g '{ print $1 * 9, $2 * 8 }' t | texttoraw >index
	doubles 9x8 {1..72} >m
	doubles 3x8 {1..24} | columns 'junk re im' >v
	set -- names spokes rows 'radians --unit=radians' 'index --unit=index'
	for to in 'm -T 2' 'v -T 1 -n 9,8' 'v -T 2 --inverse -n 9,8 --iter=2'; do
		for points in cycles "$@"; do
			usfft --quiet -e 1e-12 $to -p $points | numbers >got
			[ "$points" != cycles ] || cp got want
			diff want got
		done
	done
	fails 1 'index: point 0 lies outside [-1/2,1/2)' usfft --strict -T 2 -p index m
	usfft --strict -T 2 --unit=index -p index m >out
	for unit in 'radians: they seem to be' 'index: they seem to go from -N/2 to N/2;'; do
		usfft -T 2 -p ${unit%%:*} m 2>&1 >out | grep -F "modulo 1: ${unit#*: }" | grep -F "give --unit=${unit%%:*}"
	done
	doubles 3x1 1 1 0 >point # exp(-i s x)
	[ "$(usfft -T 3 --unit=radians --targets=<(doubles 1x1 2) point | numbers)" = "-0.4161 -0.9093" ]
	fails 2 'goes with types 1 and 2' usfft -T 3 --unit=index --targets=point point
}

@test "most points far outside the box are one warning, by whatever way they come" {
	local say='most points lie outside [-1/2,1), and are taken modulo 1; see --unit'
	doubles 1x3 -7 .25 1 >far.nrrd
	doubles 3x3 -7 1 0 .25 1 0 1 1 0 >farv.nrrd
	doubles 3 1 1 1 >v.nrrd
	for points in '-T 1 -n 4 farv.nrrd farv.nrrd' '-T 2 -p far.nrrd f.nrrd' '-T 2 --inverse -n 2 -p far.nrrd v.nrrd' \
		'-t 1 -T 1 --weights=none -n 4 farv.nrrd'; do
		usfft --iter=100 $points 2>err >out || usfft $points 2>err >out
		[ "$(grep -c 'most points' err)" -eq 1 ]
		grep -qF "nrrd: $say" err
	done
	doubles 1x3 .9 .25 .6 >far.nrrd
	remarks '' usfft -T 2 -p far.nrrd f.nrrd >out
	doubles 3x3 .9 1 0 -7 1 0 .6 1 0 | remarks '' usfft -T 1 -n 4 >out
}

@test "a column re alone holds real values" {
	doubles 2x3 .1 3 .2 -1 .3 2 | columns 'x re' >real.nrrd
	doubles 3x3 .1 3 0 .2 -1 0 .3 2 0 >pairs.nrrd
	for how in '-T 1 -n 5' '-T 1 -n 5 --weights=pipe' '-T 2 --inverse -n 3 --iter=3'; do
		[ "$(usfft --quiet $how real.nrrd | numbers)" = "$(usfft --quiet $how pairs.nrrd | numbers)" ]
	done
	[ "$(cat real.nrrd pairs.nrrd | usfft -T 1 -n 5 | numbers)" = "$(cat pairs.nrrd pairs.nrrd | usfft -T 1 -n 5 | numbers)" ]
	[ "$(columns 'x value' <real.nrrd | usfft -T 1 -n 5 | numbers)" = "$(usfft -T 1 -n 5 real.nrrd | numbers)" ]
	fails 1 'no columns re and im, nor value; texttoraw --columns=x,y,re names them' usfft -T 1 -n 5 <(doubles 2x1 1 2)
}

@test "what does not fit or go together is refused, and too many modes are, with the bytes they would take" {
	doubles 4x1 0 0 1 0 >plane.nrrd
	doubles 5x1 0 0 0 1 0 >space.nrrd
	doubles 2x2 1 2 3 4 >modes.nrrd
	doubles 2x1 0 0 >to.nrrd
	doubles 1x2 0 1e9 >far.nrrd
	doubles 3 1 1 1 >three.nrrd
	doubles 3x2 1 2 3 4 5 6 >uvw.nrrd
	doubles 3x2 1 2 nan 4 5 6 >bad.nrrd
	doubles 3x1 1 300 0 >wide.nrrd
	gen --type=float values 3x2 0 1 0 .25 1 0 >single.nrrd
	printf 'NRRD0005\ntype: double\ndimension: 2\nsizes: 4 0\nendian: little\nencoding: raw\ncolumns:=x y re im\n\n' >none.nrrd
	all_fail usfft <<-'END'
		1|sizes must be 2 numbers >= 1, not '4 0|-T 1 -n 4,4 none.nrrd
		1|bytes for the grid|-T 1 -n 1000000,1000000 plane.nrrd
		1|bytes for the grid|--max-bytes=1M -T 1 -n 100000 pv.nrrd
		1|bytes for the grid|--max-bytes=1G -T 3 --targets=far.nrrd pv.nrrd
		1|bytes for the grid|--max-bytes=1M -T 2 --inverse -n 50000 -p p.nrrd three.nrrd
		1|bytes for the grid|--max-bytes=1M -T 1 -n 100000 --weights=pipe pv.nrrd
		1|the grid for these modes is too large|-T 1 -n 1e9,1e9,1e9 space.nrrd
		1|the grid for these modes is too large|-T 2 --inverse -n 1000000000 -p p.nrrd --max-bytes=1G three.nrrd
		2|each is a whole number in 1..|-T 1 -n 1e30 pv.nrrd
		2|each is a whole number in 1..|-T 1 -n 0 pv.nrrd
		2|-n|-T 1 -n 4,x pv.nrrd
		2|--tol|-e 0 -T 1 -n 4 pv.nrrd
		1|tolerance 1e-10 is below 1e-09|--strict --window=gauss -e 1e-10 -T 1 -n 4 pv.nrrd
		1|tolerance 1e-20 is below 1e-14|--strict -e 1e-20 -T 1 -n 4 pv.nrrd
		1|tolerance 1e-20 is below 1e-14|--strict -e 1e-20 -T 2 --inverse -n 1 pv.nrrd
		1|tolerance 1e-09 is below 1e-06|--strict -e 1e-9 -T 1 -n 4 single.nrrd
		1|points of 1 axes, but -n of 2|-T 1 -n 4,4 pv.nrrd
		1|modes of 2 axes, but points of 1|-T 2 -p p.nrrd modes.nrrd
		1|4 values for 3 points|-T 1 -n 4 -p p.nrrd f.nrrd
		1|points without values|-T 1 -n 4 p.nrrd
		1|points are an item|-T 1 -n 4 v.nrrd
		1|points of 1 axes, but targets of 2|-T 3 --targets=to.nrrd pv.nrrd
		2|-n: is needed|-T 1 pv.nrrd
		2|-n: goes with modes as output only|-T 2 -n 4 -p p.nrrd f.nrrd
		2|-T 3: needs --targets=FILE|-T 3 pv.nrrd
		2|--targets|-T 1 -n 4 --targets=p.nrrd pv.nrrd
		2|no points|-T 2 f.nrrd
		2|--batch|-T 2 --batch -p p.nrrd f.nrrd
		2|--inverse|-T 1 --inverse -n 4 pv.nrrd
		2|--weights|-T 2 -p p.nrrd --weights=pipe f.nrrd
		2|--iter: goes with --inverse|-T 1 -n 4 --iter=3 pv.nrrd
		2|--rtol: goes with --inverse|-T 2 -p p.nrrd --rtol=0 f.nrrd
		2|--sigma|-T 1 -n 4 --sigma=2 pv.nrrd
		2|--order|-T 1 -n 4 --order=fft pv.nrrd
		2|--wisdom|-T 1 -n 4 --wisdom=w pv.nrrd
		2|--start|-T 1 -n 4 --start=f.nrrd pv.nrrd
		2|--type|-n 4 pv.nrrd
		2|--type|-T 4 -n 4 pv.nrrd
		2|--pixel: goes with|-T 1 --pixel=1 -n 4 uvw.nrrd
		1|two axes|-T 2 --pixel=.1 -p uvw.nrrd f.nrrd
		1|u v w among them|-T 2 --pixel=.1 -p p.nrrd modes.nrrd
		1|point 0 |-T 2 --pixel=.1 -p bad.nrrd modes.nrrd
		1|point 0 lies outside|-T 2 --strict --pixel=.1 -p wide.nrrd modes.nrrd
	END
	fail_alike 2 'usfft: --' 'usfft -T 2 -p uvw.nrrd --pixel=@ modes.nrrd' 0 x 1,2,3 '1 --output=real' '1 --coils=c.nrrd' '1 --window=gauss'
}

@test "a tolerance out of reach is said to be" {
	for how in '-T 1 -n 4' '-T 3 --targets=p.nrrd'; do
		hints 'tolerance 1e-20 cannot be reached: expect 1e-14' usfft -e 1e-20 $how pv.nrrd >out
	done
}

@test "skies by hand: a source in the centre, one pixel, turns by the depth, degrees, the horizon" {
	# l = sin 30 degrees: n - 1 = sqrt(3) / 2 - 1, and w = 1 / (n - 1) / 4 turns by a quarter
	doubles 3x1 0 0 -1.8660254037844386 | columns 'u v w' >deep.nrrd
	doubles 5x1 0 0 -1.8660254037844386 0 1 | columns 'u v w re im' >turned.nrrd
	doubles 3x1 0 0 1 >edge.nrrd
	doubles 3x3 10 20 30 -5 0 -100 0 0 7 | columns 'u v w' >uvw.nrrd
	doubles 3x3 0 0 0 0 2 0 0 0 0 >sky.nrrd
	doubles 5x2 3 4 500 1 2 0 7 -900 3 0 | columns 'u v w re im' >two.nrrd
	doubles 5x1 0 0 0 1 0 | columns 'u v w re im' >one.nrrd
	while IFS='|' read -r want args; do
		[ "$(usfft $args | numbers)" = "$want" ]
	done <<'END'
2.0000 0.0000 2.0000 0.0000 2.0000 0.0000|-T 2 --pixel=.5 -p uvw.nrrd sky.nrrd
4.0000|-T 1 --pixel=1 -n 1,1 two.nrrd
2.0000|-T 2 --inverse --pixel=1 -n 1,1 two.nrrd
0.0000 -1.0000|-T 2 -e 1e-10 --pixel=28.64788975654116 -p deep.nrrd edge.nrrd
0.0000 1.0000|-T 2 -s + -e 1e-10 --pixel=28.64788975654116 -p deep.nrrd edge.nrrd
-1.0000 0.0000 -1.0000|-T 1 -s + -n 3,1 -e 1e-10 --pixel=28.64788975654116 turned.nrrd
0.0000 1.0000 1.0000 1.0000|-T 1 -n 4,1 --pixel=-40,1 one.nrrd
END
	usfft -T 1 -n 4,1 --pixel=-40,1 one.nrrd | says 'spacings: -40 1' 'units: "deg" "deg"'
	grep -xE 'axis mins: 80 -?0' said.head
}

@test "an image of the sky has the cards of its place, and the east where it is" {
	# one source at l = .5, 30 degrees east of the centre, is -i at u = .5
	doubles 5x1 .5 0 0 0 -1 | columns 'u v w re im' >one.nrrd
	for dx in -28.64788975654116 28.64788975654116; do
		usfft -T 2 --adjoint --pixel=$dx,.9 --centre=350,0 -n 3,1 one.nrrd >sky.nrrd
		[ "$(numbers <sky.nrrd)" = "$(if [[ $dx = -* ]]; then echo 1.0000 0.0000 -1.0000; else echo -1.0000 0.0000 1.0000; fi)" ]
		says 'axis mins: 0 0' fits.CRPIX1:=2 "fits.CTYPE1:='RA---SIN'" "fits.CTYPE2:='DEC--SIN'" fits.CDELT2:=0.9 fits.CRVAL1:=350 <sky.nrrd
		[ ! -x "$B/rawtofits" ] || { rawtofits sky.nrrd | fitstoraw >again && mv again sky.nrrd; }
		rawlabel --above=.5 --map --to=csv sky.nrrd | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			NR == 2 { exit !($at["ra"] > 19.9999999 && $at["ra"] < 20.0000001 && $at["dec"] ^ 2 < 1e-14) }'
	done
	usfft -T 2 --inverse --pixel=-.9 --centre=350,0 -n 3,1 one.nrrd | says fits.CDELT1:=-0.9
	[ ! -x "$B/rawtofits" ] || usfft -T 2 --inverse --pixel=-.9 -n 3,1 one.nrrd | rawtofits | has 'CDELT1:=-0.9 / spacing of weir-raw(5)'
	fails 2 '--centre: goes with' usfft -T 2 --pixel=1 --centre=1,2 -p one.nrrd sky.nrrd
	fails 2 '--centre: goes with' usfft -T 1 --centre=1,2 -n 3,1 one.nrrd
	fails 2 "'1,91' is no right ascension" usfft -T 1 --pixel=1 --centre=1,91 -n 3,1 one.nrrd
}

@test "the sky comes back from many visibilities, with weights and from a stream" {
	awk 'BEGIN { for (j = 0; j < 400; j++) print 900 * cos(j) * sin(j * j), 900 * cos(j) * cos(j * j), 200 * sin(5 * j) }' |
		texttoraw >uvw.nrrd
	doubles 5x4 1 0 0 0 0 0 3 0 0 0 0 0 0 2 0 0 0 0 0 1 >sky.nrrd
	usfft -T 2 -e 1e-10 --pixel=-.03,.03 -p uvw.nrrd sky.nrrd >vis.nrrd
	usfft -T 2 --inverse --rtol=1e-9 -e 1e-10 --weights=pipe --weights-to=w.nrrd --pixel=-.03,.03 -n 5,4 -p uvw.nrrd vis.nrrd >again.nrrd
	[ "$(numbers <again.nrrd)" = "$(numbers <sky.nrrd)" ]
	grep -aqx 'sizes: 400' w.nrrd
	usfft -T 2 --adjoint -e 1e-9 --pixel=-.03,.03 -n 5,4 -p uvw.nrrd vis.nrrd >one.nrrd
	cat uvw.nrrd vis.nrrd vis.nrrd | usfft -T 2 --batch --adjoint -e 1e-9 --pixel=-.03,.03 -n 5,4 >two.nrrd
	[ "$(rawtotext <two.nrrd)" = "$(rawtotext one.nrrd one.nrrd)" ]
}

# faults PROGRAM ARG...: runs it, and sets pages to the number of pages that the system had to give to it.
faults() {
	local before after

	read -ra before <"/proc/$BASHPID/stat"
	"$@"
	read -ra after <"/proc/$BASHPID/stat"
	pages=$((after[10] - before[10]))
}

@test "usfft: a stream of small items keeps its memory, and has no page fault for each item" {
	! sanitized || skip 'the sanitizer keeps freed memory apart'
	awk 'BEGIN { for (i = 0; i < 4096; i++) print i / 4096 - 0.5, 1, 0 }' | texttoraw >one
	awk 'BEGIN { for (i = 0; i < 4096; i++) print i / 4096 - 0.5 }' | texttoraw >points
	awk 'BEGIN { for (i = 0; i < 4096; i++) print i }' | texttoraw --type=float >values
	# With fixed points the program holds 8 items at once.
	while read -r item few most args; do
		for n in $few 50; do
			for ((i = 0; i < n; i++)); do cat $item; done >many
			faults usfft -T 1 -n 4096 -t 1 $args -o out many
			[ "$n" != "$few" ] || local once=$pages
		done
		[ "$pages" -lt $((once + most)) ]
	done <<'END'
one 1 784
values 8 42 -p points
END
}

@test "usfft: results too large for their type are refused, and never written as infinities" {
	gen --type=float values 3x2 0 3e38 0 0 3e38 0 >floats.nrrd
	doubles 3x2 0 1e308 0 0 1e308 0 >doubles.nrrd
	gen --type=float values 2 3e38 3e38 >values.nrrd
	doubles 3x1 0 0 0 | columns 'u v w' >uvw.nrrd
	gen --type=float values 2x1 3e38 3e38 >sky.nrrd
	gen --type=float values 5x2 0 0 0 3e38 0 0 0 0 3e38 0 | columns 'u v w re im' >vis.nrrd
	for args in '-T 1 -n 4 floats.nrrd' '-T 1 -n 4 -p q.nrrd values.nrrd' '-T 1 -n 1 --output=abs floats.nrrd' '-T 2 -p q.nrrd values.nrrd' \
		'-T 3 --targets=q.nrrd floats.nrrd' '-T 2 --pixel=.1 -p uvw.nrrd sky.nrrd' '-T 1 --pixel=.1 -n 2,2 vis.nrrd'; do
		fails 1 'the results are too large for type float' usfft -o out $args
	done
	fails 1 'the results are too large for type double' usfft -o out -T 1 -n 4 doubles.nrrd
	[ ! -e out ]
}

@test "usfft: the inverse finds modes whose squares overflow or vanish" {
	doubles 1x5 0 .25 .5 .1 .7 >p.nrrd
	for unit in 1e-300 1e-200 1e200 1e300; do
		doubles 3 4e${unit#1e} 5e${unit#1e} 6e${unit#1e} >f.nrrd
		usfft -T 2 -e 1e-12 -p p.nrrd f.nrrd >v.nrrd
		usfft -T 2 --inverse -e 1e-12 --rtol=1e-9 -n 3 -p p.nrrd --output=real -o got.nrrd v.nrrd
		samples got.nrrd >out
		awk -v u=$unit '{ for (i = 1; i <= NF; i++) { d = $i / u - 3 - ++n; bad += !(d * d < 1e-12) } } END { exit bad || n != 3 }' out
	done
	doubles 5 1e308 1e308 1e308 1e308 1e308 >v.nrrd
	fails 1 'v.nrrd: the values or weights are too large' usfft -T 2 --inverse -n 3 -p p.nrrd v.nrrd
}
