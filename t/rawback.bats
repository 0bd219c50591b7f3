load lib

# plane: 128 x 96 samples of 100 + x/4 + y/2, whose median is their mean in each box.
plane() {
	printf 'P5 128 96 255 %12288s' '' | rawmath --type=float '100 + x/4 + y/2' -
}

# noise: 256 x 256 samples of a normal distribution, 1000 and 5.
noise() {
	perl -e 'srand 7; print "NRRD0005\ntype: float\ndimension: 2\nsizes: 256 256\nendian: little\nencoding: raw\n\n";
		print pack "f<", 1000 + 5 * sqrt(-2 * log(1 - rand)) * cos(6.283185307 * rand) for 1 .. 65536'
}

# within LIMIT FORMULA ITEM ...: no sample of the formula is farther from 0.
within() {
	rawmath "abs($2) > $1" "${@:3}" | rawinfo | grep -x 'max: 0'
}

@test "a plane comes back to its edges, and nothing is left of it; a constant has no noise" {
	plane >a
	rawback --box=32 a >b
	within .4 a-b a b
	rawback --box=16,8 --subtract a | within .2 a -
	printf 'P2 2 1 9 7 7\n' | rawback --box=1 --rms=r | within 0 'a - 7' -
	within 0 a r
}

@test "the noise of white noise is its deviation, whatever the stars and the number of threads" {
	noise >a
	rawmath 'x % 32 == 9 && y % 32 == 9 ? 30000 : a' a | rawback --rms=s | within .6 'a - 1000' -
	within .25 'a - 5' s
	for t in 1 2 7; do
		rawback -t $t --rms=r$t --subtract a >$t
		cmp 1 $t
		cmp r1 r$t
	done
}

@test "NaN, missing and masked samples are left out, and a box of them is like those next to it" {
	plane >a
	rawmath 'x < 40 && y < 40 || x % 7 == 0 ? nan : a' a >b
	rawback --box=8 --subtract b >c
	[ "$(rawinfo c | grep nan)" = "$(rawinfo b | grep nan)" ]
	rawback --box=8 b >c
	within .7 'y > 48 || x > 56 ? a - b : 0' a c
	within 31 a-b a c
	rawmath --type=uchar 'isnan(a)' b >mask
	rawmath 'isnan(b) ? 1e9 : a' a b | rawback --box=8 --mask=mask | within 0 a-b - c
	item short '3 1' nodata:=-9 -- 5 -9 5 | rawback --subtract | rawtotext | grep -x '0 nan 0'
	rawmath nan a | rawback 2>err | rawinfo | grep -x 'nan: 12288'
	same err 'rawback: (stdin): item 1: picture 1: no box is half known; the background is NaN'
}

@test "pictures of a stack are pictures of their own; colours and other masks are refused" {
	plane >a
	rawstack a <(rawmath 'a * 2' a) | rawback --rms=s >c
	rawback --rms=r a <(rawmath 'a * 2' a) | rawstack | within 0 a-b - c
	rawstack r | within 0 a-b - s
	fails 1 'of one plane' rawback <(printf 'P3 1 1 9 1 2 3\n')
	printf 'P1 1 1 1\n' >m
	fails 1 "--mask: 'm' has another shape" rawback --mask=m a
	gen --type=float -- values 4x1 3e38 3e38 -3e38 -3e38 >b
	gen --type=uchar values 4x1 1 1 0 0 >m
	fails 1 'out of the range of floats' rawback --box=1 --mask=m --subtract -o c b
	fails 2 "--box: '2,.5' is not W or W,H" rawback --box=2,.5
}
