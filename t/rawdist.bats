load lib

# rawdist: distances to the nearest sample that is not chosen.

# gap W H X Y: ones, and a 0 at column X, row Y.
gap() {
	awk -v w="$1" -v h="$2" -v x="$3" -v y="$4" 'BEGIN {
		print "P2", w, h, 1
		for (i = 0; i < w * h; i++)
			print i != y * w + x
	}'
}

@test "a single gap: distances from a point, by hand" {
	gap 5 4 1 0 >a.pgm
	lines <(rawdist a.pgm | rawmath --type=int 'a^2' - | rawtotext) '1 0 1 4 9/2 1 2 5 10/5 4 5 8 13/10 9 10 13 18'
	rawdist a.pgm | grep -ax 'type: float'
	rawdist a.pgm | run -1 grep -a maxval
}

@test "a picture without a gap is infinitely far from one, a row and a column are distances along them" {
	pgm 2 2 1 1 1 1 1 >a.pgm
	lines <(rawdist a.pgm | rawtotext) 'inf inf/inf inf'
	pgm 6 1 1 1 1 0 1 1 1 >a.pgm
	same <(rawdist a.pgm | rawtotext) '2 1 0 1 2 3'
	same <(rawaxes --order=1,0 a.pgm | rawdist | rawtotext | paste -sd ' ') '2 1 0 1 2 3'
	gen --type=uchar values 1x1x6 1 1 0 1 1 1 >a
	same <(rawdist --volume a | rawaxes --order=2,1,0 | rawtotext) '2 1 0 1 2 3'
}

@test "NaN is not chosen" {
	gen --type=float -- values 5x1 3 2 nan -4 7 >a
	same <(rawdist a | rawtotext) '2 1 0 1 2'
	gen --type=int -- values 3x1 -1 0 1 >a
	same <(rawdist a | rawtotext) '1 0 1'
}

@test "spacings are the lengths of steps, of any sign, unless pixels are asked for" {
	gap 4 3 0 0 | rawstack --spacing=-.5 >a
	for spacings in '.25 2 -.5' '-.25 -2 .5'; do
		sed "s/^spacings: .*/spacings: $spacings/" a >b
		lines <(rawdist b | rawtotext) '0 0.25 0.5 0.75/2 2.0155644 2.0615528 2.1360009/4 4.007805 4.031129 4.069705'
	done
	sed 's/^spacings: .*/spacings: nan nan -.5/' a >b
	rawdist b | rawtotext >c
	rawdist --pixels a | rawtotext | cmp - c
	fails 1 'axis 0 has no spacing, and axis 2 has one: see --pixels' rawdist --volume b
	rawdist --volume --pixels b >c
	sed 's/^spacings: .*/spacings: 1 1 1\nunits: "um" "um" "mm"/' a >b
	rawdist b >c
	fails 1 'axis 0 is in um, and axis 2 in mm: see --pixels' rawdist --volume b
}

@test "pictures of a stack are alone, and slices of a volume are not" {
	gen --type=uchar values 3x1x2 1 1 1 1 1 0 >a
	lines <(rawdist a | rawtotext | grep .) 'inf inf inf/2 1 0'
	lines <(rawdist --volume a | rawmath --type=int 'a^2' - | rawtotext | grep .) '5 2 1/4 1 0'
}

@test "any number of threads writes the same bytes" {
	gen noise 301 257 | rawmath --type=uchar 'a > 3' - >a
	{ item uchar '60 50 20' -- && gen noise 60 1000 | tail -c 60000; } | rawmath --type=uchar 'a > 9' - >b
	for item in a b; do
		rawdist --volume -t 1 $item | sed 1,20d >one
		for n in 2 3 7; do rawdist --volume -t $n $item | sed 1,20d | cmp - one; done
	done
}

@test "colours are refused, and a part of a picture is told of" {
	fails 1 'pictures and volumes of one plane' rawdist <(printf 'P3 1 1 9 1 2 3\n')
	gap 9 9 4 4 | rawtile --size=5x5 | hints 'beyond its sides is not seen' rawdist >c
}
