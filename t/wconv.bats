load lib

# numbers FILE: its samples, a row a line, shortened to 6 digits.
numbers() {
	samples "$1" | awk '{
		for (i = 1; i <= NF; i++)
			printf("%s%s", i > 1 ? " " : "", $i ~ /nan/ ? "nan" : sprintf("%.6g", $i))
		print ""
	}'
}

# gives TEXT ARG ...: wconv of x.nrrd prints these samples.
gives() {
	local want=$1
	shift
	wconv "$@" x.nrrd >out.nrrd
	diff <(numbers out.nrrd) <(printf '%s\n' "$want")
}

prepare() {
	item float '5 1' -- 1 2 3 4 5 >x.nrrd
}

@test "a point leaves the kernel, not its mirror image; the centre of an even one is sample n/2, also turned" {
	item float '5 1' -- 0 0 1 0 0 >x.nrrd
	item float '3 1' -- 1 2 4 >k.nrrd
	gives '0 1 2 4 0' -k k.nrrd
	gives '0 4 2 1 0' -k k.nrrd --correlate
	item float '2 1' -- 1 2 >k.nrrd
	gives '0 1 2 0 0' -k k.nrrd
	gives '0 0 2 1 0' -k k.nrrd --correlate
}

@test "pictures along several axes are those of a stack, with their axes kept" {
	item ushort '5 4 2 3 2' 'kinds: domain domain list domain domain' 'spacings: 1 1 nan .3 2' \
		'labels: "x" "y" "c" "z" "t"' -- $(seq 1 240) >five.nrrd
	item ushort '5 4 12' -- $(seq 1 240) >three.nrrd
	item float '3 3' -- 1 2 3 4 5 6 7 8 9 >k.nrrd
	for how in '' --edge=wrap --deconvolve=2 --type=input --adjoint; do
		wconv -k k.nrrd $how three.nrrd | rawtotext >want
		wconv -k k.nrrd $how five.nrrd >got.nrrd
		cmp want <(rawtotext got.nrrd)
		rawinfo got.nrrd | grep -x 'labels: "x" "y" "c" "z" "t"'
		rawinfo got.nrrd | grep -x 'sizes: . . 2 3 2'
	done
	fails 1 'five.nrrd: item 1: it has 5 axes; --part takes pictures and stacks of one axis' \
		wconv -k k.nrrd --part=0/2 five.nrrd
}

@test "what lies beyond the edges" {
	item float '5 1' -- 1 1 1 1 1 >k.nrrd
	gives '6 10 15 14 12' -k k.nrrd --edge=zero
	gives '9 11 15 19 21' -k k.nrrd --edge=reflect
	gives '11 12 15 18 19' -k k.nrrd --edge=mirror
	gives '8 11 15 19 22' -k k.nrrd --edge=nearest
	gives '15 15 15 15 15' -k k.nrrd --edge=wrap
	gives '10 12.5 15 17.5 20' -k k.nrrd --edge=renormalise
}

@test "between two nodes the kernels blend, beyond them the nearest holds; they stand where the file says or in the cells of a sheet" {
	item float '8 1' -- 1 1 1 1 1 1 1 1 >x.nrrd
	item float '1 1 2 1' -- 0 8 >k.nrrd
	gives '0 0 1 3 5 7 8 8' -k k.nrrd
	gives '0 1.14286 2.28571 3.42857 4.57143 5.71429 6.85714 8' -k k.nrrd --place=corner
	gives '0 0 0 0 4 8 8 8' -k k.nrrd --cols=3,5
	gives '0 0 1 3 5 7 8 8' -k <(item float '2 1' -- 0 8) --grid=2x1
	gives '0 0 1 3 5 7 8 8' -k <(pgm 2 1 255 0 8) --grid=2x1
	gives '0 0 0 0 4 8 8 8' -k <(item float '1 1 2 1' 'cols:=3 5' -- 0 8)
	gives '0 0 0 0 4 8 8 8' -k <(item float '1 1 2 1' 'spacings: nan nan 2 nan' 'axis mins: nan nan 3 nan' -- 0 8)
	item float '1 1 2 1' 'place:=corner' -- 0 7 >k.nrrd
	gives '0 1 2 3 4 5 6 7' -k k.nrrd
	gives '0 0 0.875 2.625 4.375 6.125 7 7' -k k.nrrd --place=centre
}

@test "the weights belong to the output pixel, and a picture serves as one kernel" {
	item float '5 1' -- 0 0 1 0 0 >x.nrrd
	gives '0 1.25 1.5 1.75 0' -k <(item float '3 1 2 1' -- 1 1 1 2 2 2) --place=corner
	prepare
	gives '3 6 9 12 9' -k <(pgm 3 1 255 1 1 1)
}

@test "--normalise scales each kernel to the sum 1; of a basis, each pixel's own kernel" {
	gives '1 2 3 4 3' -k <(item float '3 1' -- 2 2 2) --normalise
	item float '5 1' -- 1 1 1 1 1 >x.nrrd
	item float '3 1 3' 'zero:=2 0' 'scale:=1 1' -- 1 2 1 1 0 0 0 0 0 >k.nrrd
	gives '1 1 1 1 1' -k k.nrrd --basis=poly:1 --normalise --edge=nearest
	item float '5 1' -- 0 0 4 0 0 >x.nrrd
	gives '0 0 2 0.8 0' -k k.nrrd --basis=poly:1 --normalise
	item float '1 1 3' 'zero:=2 0' 'scale:=1 1' -- 0 1 0 >k.nrrd
	fails 1 'the kernel at 2,0 cannot be normalised: its sum is 0' wconv -k k.nrrd --basis=poly:1 --normalise x.nrrd
}

@test "--gaussian and --box have the sum 1, and their edges reflect" {
	local sigma=.8493218 # its samples are 1, 1/2, 1/16, 1/512: of these 1090 is the sum
	item float '7 1' -- 0 0 0 1090 0 0 0 >x.nrrd
	gives '1 32 256 512 256 32 1' --gaussian=$sigma
	sed -i 's/^sizes:.*/&\nspacings: .5 .25\nunits: "um" "um"/' x.nrrd
	gives '1 32 256 512 256 32 1' --gaussian=.4246609um
	gives '1 32 256 512 256 32 1' --gaussian=.4246609,0um
	fails 1 '--gaussian: its axis 0 has no unit mm, but um' wconv --gaussian=1mm x.nrrd
	sed 's/^spacings:.*/spacings: 1 1/' x.nrrd >wider.nrrd
	wconv --gaussian=.4246609um x.nrrd wider.nrrd x.nrrd >two.nrrd # each by its own spacings
	for i in x wider x; do wconv --gaussian=.4246609um $i.nrrd; done | sed 's/nrrd$/& wider.nrrd x.nrrd/' | cmp <(rawtotext two.nrrd) <(rawtotext -)
	prepare
	gives '1.33333 2 3 4 4.66667' --box=3
	gives '1 1.5 2.5 3.5 4.5' --box=2,9
	item float '5 1' -- 4 4 nan 4 4 >x.nrrd
	gives '4 4 4 4 4' --gaussian=1 --nan=interpolate
	item float '1 1 7' -- 0 0 0 1090 0 0 0 >x.nrrd
	wconv --gaussian=0,0,0 --less=0,0,$sigma x.nrrd | rawmath 'round(a)' | rawtotext | xargs | same /dev/stdin '-1 -32 -256 578 -256 -32 -1'
	wconv --gaussian=0,0,$sigma x.nrrd | rawmath 'round(a)' | rawtotext | xargs | same /dev/stdin '1 32 256 512 256 32 1'
	printf 'P2 3 1 255 0 200 100' | wconv --box=3 --type=input | cmp - <(printf 'P5\n3 1\n255\n\103\144\205')
}

@test "kernels as polynomials: as the option or the file says, with their 0 and unit" {
	item float '3 3' -- 1 1 1 1 1 1 1 1 1 >x.nrrd
	gives $'7 8 9\n9 10 11\n11 12 13' -k <(item float '1 1 3' 'zero:=1 1' 'scale:=1 .5' -- 10 1 1) --basis=poly:1
	item float '3 1' -- 1 1 1 >x.nrrd
	gives '8 10 12' -k <(item float '1 1 3' 'basis:=poly:1' 'zero:=1 0' 'scale:=.5 1' -- 10 1 5)
	fails 1 'basis:=poly:x is not poly:DEG' wconv -k <(item float '1 1 3' 'basis:=poly:x' -- 10 1 5) x.nrrd
	fails 1 'has no nodes' wconv -k <(item float '1 1 3' 'basis:=poly:1' -- 10 1 5) --place=corner x.nrrd
}

@test "a cut of a FITS image gets the kernels of its place, and a flipped one is refused" {
	item float '1 1 3' 'basis:=poly:1' 'zero:=1 0' 'scale:=1 1' -- 10 1 5 >k.nrrd
	item float '4 3' 'axis mins: 0 0' 'spacings: 1 1' fits.NAXIS:=2 -- 1 1 1 1 1 1 1 1 1 1 1 1 >f.nrrd
	rawaxes --crop=0:1:3 --crop=1:1:3 f.nrrd >cut.nrrd
	[ "$(wconv -k k.nrrd cut.nrrd | rawtotext | xargs)" = '15 16 20 21' ]
	cmp <(wconv -k k.nrrd cut.nrrd | tail -c 16) <(wconv -k k.nrrd f.nrrd | rawaxes --crop=0:1:3 --crop=1:1:3 | tail -c 16)
	item float '1 1 2 1' 'cols:=0 3' 'rows:=0' -- 1 4 >g.nrrd
	[ "$(wconv -k g.nrrd cut.nrrd | rawtotext | xargs)" = '2 3 2 3' ]
	rawaxes --flip=0 f.nrrd >flip.nrrd
	fails 1 'the one at hand is flipped' wconv -k k.nrrd flip.nrrd
}

@test "NaN spreads over its windows and no further, is filled in, or is 0" {
	item float '7 1' -- 1 2 3 nan 5 6 7 >x.nrrd
	item float '3 1' -- 1 1 1 >k.nrrd
	for method in direct fft; do
		gives '3 6 nan nan nan 18 13' -k k.nrrd --method=$method
		gives '3 6 7.5 12 16.5 18 13' -k k.nrrd --method=$method --nan=interpolate
		gives '3 6 5 8 11 18 13' -k k.nrrd --method=$method --nan=zero
	done
}

@test "--variance: squares of each pixel's own kernel, of its factors too" {
	item float '3 1' -- 1 2 1 >k.nrrd
	gives '6 12 18 24 24' -k k.nrrd --variance
	gives '0.375 0.75 1.125 1.5 1.5' -k k.nrrd --variance --normalise
	item float '5 1' -- 1 2 nan 4 5 >x.nrrd
	gives '3 6.75 13.5 20.25 9' -k <(item float '3 1' -- 1 1 1) --variance --nan=interpolate
	item float '8 1' -- 1 1 1 1 1 1 1 1 >x.nrrd
	gives '0 0 1 9 25 49 64 64' -k <(item float '1 1 2 1' -- 0 8) --variance
	item float '3 3 2 1' -- 1 1 1 1 1 1 1 1 1 0 0 0 0 9 0 0 0 0 >k.nrrd
	gen noise 400 300 --type=float | rawmath '(a - .5) * sqrt(12)' >x.nrrd
	rawmath '0 * a + 1' x.nrrd | wconv -k k.nrrd --variance >v.nrrd
	wconv -k k.nrrd x.nrrd | rawmath 'f^2 / v' f=- v=v.nrrd | rawinfo >ratio
	awk '/^mean:/ { exit !($2 > .98 && $2 < 1.02) }' ratio
	gen noise 90 70 --type=float | rawmath 'a > .99' | wconv --gaussian=1 --variance --method=fft | rawinfo | grep -x 'min: *0'
	fail_alike 2 '--variance goes with the convolution alone' 'wconv -k k.nrrd --variance @ x.nrrd' --adjoint --deconvolve=1 -g
}

@test "--type=input: integers from 2^53 on are refused, and those that a float rounds are warned of once" {
	item float '1 1' -- 1 >k.nrrd
	local big
	for big in 9007199254740993 9007199254740992 -9007199254740993 9223372036854775807; do
		item int64 '1 2' -- 1 $big >x.nrrd
		fails 1 '--type=input takes integers below 2^53' wconv -k k.nrrd --type=input --double x.nrrd
		wconv -k k.nrrd x.nrrd >out.nrrd
	done
	item int '1 2' -- 16777217 -2147483648 >x.nrrd
	[ "$(wconv -k k.nrrd --type=input --double x.nrrd | rawtotext | xargs)" = '16777217 -2147483648' ]
	cat x.nrrd x.nrrd | wconv -k k.nrrd --type=input 2>stderr | rawtotext >out
	[ "$(grep -c 'integers of up to 2147483648 have more digits than a float' stderr)" -eq 1 ]
	item int '1 2' -- 16777216 -3 >x.nrrd
	[ "$(wconv -k k.nrrd --type=input x.nrrd 2>&1 | rawtotext | xargs)" = '16777216 -3' ]
}

@test "kernels whose sums are 0, or pass through 0, fill in nothing and deconvolve nothing" {
	while IFS='|' read -r sizes key samples where; do
		item float "$sizes" "${key:-x:=1}" 'zero:=1.5 0' 'scale:=1 1' -- $samples >k.nrrd
		for how in --nan=interpolate --edge=renormalise '--edge=renormalise --adjoint --double'; do
			fails 1 "the kernel $where" wconv -k k.nrrd $how x.nrrd
			grep -q "take another ${how%%=*} than" stderr
		done
		gives "$(wconv -k k.nrrd x.nrrd >out.nrrd && numbers out.nrrd)" -k k.nrrd --nan=zero
	done <<-END
		3 1||-1 2 -1|at node 0,0 has the sum 0
		3 1||1e7 -1e7 .1|at node 0,0 has the sum 0.1
		1 1 2 1||1 0|at node 1,0 has the sum 0
		1 1 1 3||1 1 -1|at node 0,2 has the sum -1
		1 1 3|basis:=poly:1|0 1 0|of pixel 2,0 has the sum 0.5
		1 1 3|basis:=poly:1|.5 1 0|of pixel 1,0 has the sum 0
	END
	for k in '-1 2 -1' '1e7 -1e7 .1' '-1 -1 -1'; do
		fails 1 'the kernels sum to nothing positive' wconv -k <(item float '3 1' -- $k) --deconvolve=2 x.nrrd
	done
	gives '2 4 6 8 16' -k <(item float '3 1' -- -1 4 -1) --nan=interpolate
}

@test "every item of a stream, every picture of a stack and every plane of a picture in colours is convolved" {
	printf 'P6 3 1 255\n\1\2\3\4\5\6\7\10\11' >x.nrrd
	item float '3 1' -- 1 1 1 >k.nrrd
	shows '5 7 9/12 15 18/11 13 15' wconv -k k.nrrd x.nrrd
	wconv -k k.nrrd --type=input x.nrrd | cmp - <(printf 'P6\n3 1\n255\n\5\7\11\14\17\22\13\15\17')
	{ item float '3 1' -- 1 0 0 && item float '3 1' -- 0 0 1 && item float '2 1 2' -- 1 2 3 4; } >x
	for method in direct fft; do
		wconv -k k.nrrd --method=$method <x >out
		[ "$(grep -ac '^sizes: ' out)" -eq 3 ]
		[ "$(rawtotext out | xargs printf '%.0f ')" = '1 1 0 0 1 1 3 3 7 7 ' ]
	done
}

@test "results are float, or rounded and clipped to the input's maxval, or double" {
	pgm 4 1 100 10 20 99 3 >x.nrrd
	wconv -k <(item float '1 1' -- 1.26) --type=input x.nrrd >out.pgm
	pgm 4 1 100 13 25 100 4 | cmp - out.pgm
	for level in generic avx2 avx512; do # halves go to the even integer
		item short '1 5' -- -5 -3 32767 1 3 | WEIR_CPU=$level wconv -k <(item float '1 1' -- .5) --type=input >out.nrrd
		[ "$(rawtotext out.nrrd | xargs)" = '-2 -2 16384 0 2' ]
		item short '1 2' -- -32768 32767 | WEIR_CPU=$level wconv -k <(item float '1 1' -- 9) --type=input >out.nrrd
		[ "$(rawtotext out.nrrd | xargs)" = '-32768 32767' ]
	done
	pgm 2 1 100 10 20 >x.nrrd
	item float '1 1' -- .5 >k.nrrd
	gives '5 10' -k k.nrrd
	grep -ax 'type: float' out.nrrd
	gives '5 10' -k k.nrrd --double
	grep -ax 'type: double' out.nrrd
}

# frames SIZE OPTION...: each of three frames of a stack of SIZE x SIZE pixels comes out before the next one arrives.
frames() {
	local size=$1 bytes=$((4 * $1 * $1)) i
	shift
	gen noise "$size" "$size" --type=float >x.nrrd
	tail -c $bytes x.nrrd >frame
	wconv -t 2 -k k.nrrd "$@" x.nrrd | tail -c $bytes >want
	rm -f in out
	mkfifo in out
	wconv -t 2 -k k.nrrd "$@" <in >out &
	exec 7>in 8<out
	printf 'NRRD0005\ntype: float\ndimension: 3\nsizes: %s %s 3\nendian: little\nencoding: raw\n\n' "$size" "$size" >&7
	for i in 1 2 3; do
		cat frame >&7
		[ $i -gt 1 ] || while IFS= read -r line <&8 && [ -n "$line" ]; do :; done
		head -c $bytes <&8 | cmp - want
	done
	exec 7>&- 8<&-
	wait $!
}

@test "a frame of a stack comes out before the next one arrives" {
	item float '3 1' -- 1 2 1 >k.nrrd
	frames 20
	frames 300
	frames 20 --deconvolve=2
	frames 300 --adjoint
}

@test "a part that knows its place gives what the whole gives there, and no more; cut where -v says that tiles begin, its bytes" {
	item float '9 1' -- 1 2 3 4 5 6 7 8 9 >x.nrrd
	item float '3 1 2 1' 'cols:=0 8' -- 1 1 1 2 2 2 >k.nrrd
	gives '3 6.75 11.25 16.5 22.5 29.25 36.75 45 34' -k k.nrrd
	item float '5 1' 'tile:=3 0 9 1' -- 4 5 6 7 8 >x.nrrd
	gives '22.5 29.25 36.75' -k k.nrrd
	grep -ax 'tile:=4 0 9 1' out.nrrd
	gen noise 400 300 --type=float >x.nrrd
	gen noise 120 60 --type=float >k.nrrd
	wconv -v -k k.nrrd --grid=4x3 --method=fft x.nrrd >whole 2>said
	read -r _ _ _ _ _ _ first last _ < <(grep 'begin at rows' said)
	[ "$last" -gt "$first" ]
	before=$((20 - 1 - 10)) n=$((last - first + 19))
	{ item float "400 $n" "tile:=0 $((first - before)) 400 300" -- && rows x.nrrd $((first - before)) $n; } >part.nrrd
	wconv -k k.nrrd --grid=4x3 --method=fft part.nrrd >out
	grep -ax "tile:=0 $first 400 300" out
	cmp <(rows out 0 $((last - first))) <(rows whole "$first" $((last - first)))
}

# figure NAME: its value in the file s of --stats.
figure() {
	sed "s/.*\"$1\": \(\[[^]]*\]\|[^,}]*\).*/\1/" s
}

@test "--stats tells method, transforms, tiles and seconds, and -v the method and what it was expected to cost" {
	wconv -v --box=1 <(pgm 2 1 9 1 2) 2>&1 >/dev/null | grep 'direct sums'
	gen noise 200 150 >x.pgm
	gen noise 30 30 --type=float >k.nrrd
	wconv -k k.nrrd --method=fft --stats=s x.pgm >out
	[ "$(figure method)" = '"fft"' ]
	wconv -v -k k.nrrd --method=fft x.pgm 2>&1 >/dev/null |
		grep -F "transforms of $(figure transform | tr -d '[ ]' | tr , x), $(figure tiles | tr -d '[ ]' | tr , x) tiles"
	awk -v r="$(figure read)" -v p="$(figure plan)" -v c="$(figure compute)" -v w="$(figure write)" -v t="$(figure total)" \
		'BEGIN { exit !(c > 0 && p > 0 && r + p + c + w <= t) }'
	wconv -k k.nrrd --method=direct --stats=s x.pgm >out
	[ "$(figure method)" = '"direct"' ]
	[ "$(figure transform)" = '[0, 0]' ]
}

# rows FILE FIRST N: N rows of 400 floats from row FIRST of the payload.
rows() {
	tail -c +$(($(rawinfo --skip "$1") + 1 + 1600 * $2)) "$1" | head -c $((1600 * $3))
}

@test "--adjoint scatters: each point along the kernel of its own place, parts too; all must be finite" {
	item float '5 1' -- 0 1 0 1 0 >x.nrrd
	item float '3 1 2 1' 'cols:=1 3' -- 1 2 4 10 20 40 >k.nrrd
	gives '1 2 14 20 40' -k k.nrrd --adjoint --correlate
	gives '4 2 41 20 10' -k k.nrrd --adjoint
	item float '3 1' 'tile:=4 0 9 1' -- 1 0 0 >x.nrrd
	gives '4 2 1 0 0' -k <(item float '3 1' -- 1 2 4) --adjoint
	grep -ax 'tile:=3 0 9 1' out.nrrd
	item float '5 1' -- 1 2 4 8 16 >k.nrrd
	item float '3 1' 'tile:=1 0 9 1' -- 1 0 0 >x.nrrd
	fails 1 'no picture has these 3x1 results of a kernel of 5x1' wconv -k k.nrrd --adjoint x.nrrd
	item float '3 1' -- 1 nan 2 >x.nrrd
	item float '1 1' -- 1 >k.nrrd
	fails 1 'the pixel at 1,0 is not finite' wconv -k k.nrrd --adjoint x.nrrd
	gives '1 0 2' -k k.nrrd --adjoint --nan=zero
}

@test "--deconvolve undoes a scaled and shifted picture in one step, and finds points; unknown pixels are filled in, stay NaN or are 0" {
	item float '4 2' -- 2 4 6 8 1 3 5 7 >x.nrrd
	item float '1 1' -- 2 >k.nrrd
	gives $'1 2 3 4\n0.5 1.5 2.5 3.5' -k k.nrrd --deconvolve=1
	gives $'1 2 3 4\n0.5 1.5 2.5 3.5' -k k.nrrd --deconvolve=1 --damp=0
	gives $'0.5 1 1.5 2\n0.25 0.75 1.25 1.75' -k k.nrrd --deconvolve=9 --damp=2
	gives $'0.5 1.5 2.5 3.5\n0 1 2 3' -k k.nrrd --deconvolve=1 --damp=0 --sky=1
	# A hole that nothing lights is NaN.
	item float '5 1' -- 2 2 nan 2 2 >x.nrrd
	item float '3 1' -- .25 .5 .25 >k.nrrd
	gives '2 2 2 2 2' -k k.nrrd --deconvolve=5
	gives '2 2 nan 2 2' -k k.nrrd --deconvolve=5 --nan=propagate
	wconv -k k.nrrd --deconvolve=50 --nan=zero x.nrrd >out.nrrd
	[ "$(numbers out.nrrd | awk '{print ($3 < .1)}')" -eq 1 ]
	item float '5 1' -- 2 nan nan nan 2 >x.nrrd
	gives '2 2 nan 2 2' -k k.nrrd --deconvolve=5
	# A point comes back from its own kernel, gathered or scattered.
	item float '9 1' -- 0 0 0 5 0 0 0 0 0 >x.nrrd
	item float '3 1 2 1' -- .25 .5 .25 .1 .8 .1 >k.nrrd
	for mode in '' '--adjoint --correlate'; do
		wconv -k k.nrrd $mode x.nrrd |
			wconv -k k.nrrd $mode --double --edge=zero --deconvolve=3000 >y.nrrd
		numbers y.nrrd | awk '{for (i = 1; i <= 9; i++) if (($i - (i == 4 ? 5 : 0)) ^ 2 > 1e-3) exit 1}'
	done
}

@test "--deconvolve stops at --noise, and --stats says where" {
	gen noise 60 50 --type=float >x.nrrd
	wconv -k <(item float '3 1' -- .25 .5 .25) --deconvolve=100 --noise=.2 --stats=s x.nrrd >out
	awk -v n="$(figure iterations)" -v r="$(figure rms)" 'BEGIN { exit !(n > 0 && n < 100 && r <= .2 && r > .1) }'
}

@test "--accelerate: the first step is that without it, and later ones come closer to the data" {
	item float '16 1' -- 1 9 2 3 7 1 1 5 0 0 9 9 1 2 3 4 >p.nrrd
	item float '3 1' -- 1 2 1 >k.nrrd
	wconv -k k.nrrd p.nrrd >x.nrrd
	wconv -k k.nrrd --deconvolve=1 x.nrrd | tail -c 64 >one.out
	wconv -k k.nrrd --deconvolve=1 --accelerate x.nrrd | tail -c 64 | cmp - one.out
	for n in 10 20; do
		wconv -k k.nrrd --deconvolve=$n --stats=plain x.nrrd >plain.nrrd
		wconv -k k.nrrd --deconvolve=$n --accelerate --stats=fast x.nrrd >fast.nrrd
		awk -F'"rms": *' 'NR == FNR { fast = $2 + 0; next } { exit !(fast > 0 && fast < ($2 + 0) / 2) }' fast plain
	done
}

@test "--deconvolve: of data below 0 the result keeps the light, down to ten times the noise" {
	item float '6 1' -- 0 9 0 0 -1 2 >x.nrrd
	item float '3 1' -- .25 .5 .25 >k.nrrd
	remarks '' wconv -k k.nrrd --edge=wrap --deconvolve=300 x.nrrd >out.nrrd
	wconv -k k.nrrd --edge=wrap --deconvolve=300 --noise=.1 x.nrrd >deep.nrrd
	for y in out deep; do
		numbers $y.nrrd | awk '{for (i = 1; i <= 6; i++) { sum += $i; bad += $i < -12.6 } exit bad || sum > 10.01 || sum < 9.99}'
	done
	rawinfo deep.nrrd | awk '/^min:/ { exit $2 < -1 }'
	item float '3 1' -- -1 3 -1 >k.nrrd
	fails 1 'diverge, since kernels have samples below 0' wconv -k k.nrrd --deconvolve=5 <(item float '6 1' -- 0 9 0 0 1 2)
	wconv -k k.nrrd --deconvolve=5 --sky=5 <(item float '3 1' -- 5 5 5) >out.nrrd
	wconv -k k.nrrd --deconvolve=5 --sky=5 <(item float '3 1' -- 0 0 0) >out.nrrd
}

@test "--deconvolve: every picture of a stack, every plane of a picture in colours, parts of a picture" {
	item float '2 1' -- 1 1 >k.nrrd
	item float '3 1 2' -- 2 2 2 4 4 4 >x.nrrd
	gives $'1 1 1\n2 2 2' -k k.nrrd --deconvolve=3
	item float '1 1 2 1' 'cols:=1 3' -- 1 4 >k.nrrd
	item float '3 1' 'tile:=2 0 9 1' -- 5 8 12 >x.nrrd
	gives '2 2 3' -k k.nrrd --deconvolve=1
	fails 1 'a part of a picture is deconvolved with --edge=renormalise only' wconv -k k.nrrd --deconvolve=1 --edge=zero x.nrrd
}

@test "kernels that are not finite, cannot be cut or normalised, and nodes that do not increase, are refused" {
	item float '7 6' -- $(seq 42) >k.nrrd
	fails 1 'a sheet of 7x6 cannot be cut into 2x2 kernels' wconv -k k.nrrd --grid=2x2 x.nrrd
	item float '1 1 3 1' -- 1 2 3 >k.nrrd
	fails 1 'not increasing' wconv -k k.nrrd --cols=1,3,2 x.nrrd
	fails 1 'not increasing' wconv -k k.nrrd --cols=1,1,2 x.nrrd
	fails 1 '2 positions for 3 kernels' wconv -k k.nrrd --cols=1,2 x.nrrd
	fails 2 '--cols' wconv -k k.nrrd --cols=1,nan,2 x.nrrd
	fails 1 'not increasing' wconv -k <(item float '1 1 3 1' 'cols:=1 nan 2' -- 1 2 3) x.nrrd
	fails 1 'cols:=1 2 is not 3 numbers' wconv -k <(item float '1 1 3 1' 'cols:=1 2' -- 1 2 3) x.nrrd
	fails 1 'kernel 1,0 has a sample that is not finite' wconv -k <(item float '1 1 2 1' -- 1 nan) x.nrrd
	fails 1 'not finite' wconv -k <(item float '1 1' -- inf) --normalise x.nrrd
	item float '3 1' -- 1 -2 1 >k.nrrd
	gives '0 0 0 0 -6' -k k.nrrd
	fails 1 'kernel 0,0 cannot be normalised: its sum is 0' wconv -k k.nrrd --normalise x.nrrd
	fails 1 'cannot be normalised' wconv -k <(item float '2 1' -- 0 0) --normalise x.nrrd
}

# How many rows have left by then is a matter of which thread was quicker.
@test "a truncated picture is an error that counts, and of a truncated stream only results that its rows make are written, none of zeros" {
	item float '1 1' -- 1 >k.nrrd
	fails 1 '16 of 20 bytes' wconv -k k.nrrd <(head -c -4 x.nrrd)
	gen constant 300 3000 1 --type=float >x.nrrd
	size=$(wc -c <x.nrrd)
	run -1 --separate-stderr bash -c "head -c $((size / 2)) x.nrrd | wconv -k k.nrrd -t 1 >out"
	[[ $stderr == *"of $((300 * 3000 * 4)) bytes"* ]]
	wconv -k k.nrrd -t 1 x.nrrd >whole
	got=$(wc -c <out)
	[ "$got" -le $((size / 2 + 4096)) ]
	cmp -n "$got" out whole
}

# bare: a stream without what tells where it came from.
bare() {
	sed '/^history:=/d; /^#/d'
}

# Rows of a regular file are taken where it is mapped; of a pipe, and where bytes must be swapped, they are read.
@test "items of a file, of all sizes and shapes, are convolved as they are from a pipe, and in either byte order" {
	item float '3 3' -- 1 2 3 4 5 6 7 8 9 >k.nrrd
	{ item float '300 7' -- $(seq 2100) && item float '300 100 2' -- $(seq 60000); } >x.nrrd
	perl -0777 -pe 's/little/big/g; s/(encoding: raw\n\n)(.*?)(?=NRRD0005|\z)/$1 . pack("N*", unpack("V*", $2))/gse' \
		x.nrrd >big.nrrd
	wconv -k k.nrrd x.nrrd | bare >out
	wconv -k k.nrrd < <(cat x.nrrd) | bare | cmp - out
	wconv -k k.nrrd big.nrrd | bare | cmp - out
	item float '3 1' -- 1 2 1 >k.nrrd
	for size in '400 300' '20 10' '900 500' '400 300'; do
		gen noise $size --type=float >x.nrrd
		cat x.nrrd >>x
		wconv -t 2 -k k.nrrd x.nrrd >>want
	done
	wconv -t 2 -k k.nrrd x | cmp - want
	wconv -t 2 -k k.nrrd <x | cmp - want
}

@test "a picture that shrinks while it is mapped ends the program with a message" {
	gen constant 1000 4000 1 --type=float >x.nrrd
	item float '1 1' -- 1 >k.nrrd
	shrinks x.nrrd 1000 wconv -k k.nrrd -t 1 x.nrrd
	same stderr 'wconv: x.nrrd: it shrank while it was mapped'
}

@test "samples that would make sums overflow are refused, and no others" {
	item float '3 1' -- 1e36 2 3 >x.nrrd
	item float '3 1' -- 1 1 1 >k.nrrd
	fail_alike 1 'a sample of absolute value 1e+36 is too large' 'wconv -k k.nrrd --method=fft @ x.nrrd' '' --adjoint --deconvolve=2 '--deconvolve=2 --damp=1'
	gives '1e+36 1e+36 5' -k k.nrrd --method=direct
	item double '3 1' -- 1e36 2 -1e40 >x.nrrd
	gives '1e+36 -9.999e+39 -1e+40' -k k.nrrd --method=fft --double
	fails 1 'a sample of absolute value 1e+40 is too large' wconv -k k.nrrd --nan=zero x.nrrd
	item float '3 1' -- 1e28 nan inf >x.nrrd
	wconv -k k.nrrd --method=fft --nan=zero x.nrrd >out.nrrd
	fails 1 'sums overflow' wconv -k <(item float '3 1' -- 1e10 1e10 1e10) --method=direct --deconvolve=2 --damp=1 x.nrrd
	# One is found in every column, beside NaN too.
	echo 1 1 1 1 1 1 1 1 1 | texttoraw --sizes=3,3 >k.nrrd
	for ((i = 0; i < 75; i++)); do
		seq 0 74 | sed "s/^$i\$/1e36/; s/^$((70 - i))\$/nan/" | texttoraw --sizes=75,1 >x.nrrd
		fail_alike 1 'absolute value 1e+36 is too large' 'wconv -t @ -k k.nrrd --method=fft x.nrrd' 1 2
		wconv -k k.nrrd --method=direct x.nrrd >y.nrrd
	done
}

@test "options that contradict each other are refused" {
	item float '1 1' -- 1 >k.nrrd
	fails 2 '--basis' wconv -k k.nrrd --basis=poly:1 --place=corner x.nrrd
	fails 2 '--basis' wconv -k k.nrrd --basis=poly x.nrrd
	fails 1 'needs 3 kernels, not 1' wconv -k k.nrrd --basis=poly:1 x.nrrd
	fails 2 '--grid' wconv -k k.nrrd --grid=0x2 x.nrrd
	fails 2 '--grid' wconv -k k.nrrd --grid=2x2x x.nrrd
	fails 2 'both' wconv -k - -
	fails 2 'both' wconv -k -
	fails 2 'one kernel is needed' wconv x.nrrd
	fails 2 'one kernel is needed' wconv -k k.nrrd --box=1 x.nrrd
	fails 2 'go with -k' wconv --box=1 --grid=1x1 x.nrrd
	fails 2 '--less: it has as many sizes as --gaussian' wconv --gaussian=1 --less=2um x.nrrd
	for how in --box=0 --box=1.5 --box=3px --gaussian=-1 --gaussian=1,1,1,1 --gaussian=nan; do
		fails 2 "${how%%=*}: " wconv $how x.nrrd
	done
	run -1 wconv --gaussian=1e6 x.nrrd
	[ "${lines[-1]}" = 'wconv: no memory for a kernel of that size' ]
	fails 2 'go with --deconvolve' wconv -k k.nrrd --damp=1 x.nrrd
	fails 2 'goes with --deconvolve without --damp' wconv -k k.nrrd --accelerate x.nrrd
	fails 2 'goes with --deconvolve without --damp' wconv -k k.nrrd --accelerate --deconvolve=1 --damp=1 x.nrrd
	fails 2 'runs on the CPU alone' wconv -k k.nrrd --accelerate --deconvolve=1 -g x.nrrd
	fails 2 'go with --deconvolve' wconv -k k.nrrd --adjoint --noise=1 x.nrrd
	fails 2 '--type=input' wconv -k k.nrrd --deconvolve=1 --type=input x.nrrd
	fails 2 '--nan=interpolate' wconv -k k.nrrd --adjoint --nan=interpolate x.nrrd
	fails 2 '--deconvolve' wconv -k k.nrrd --deconvolve=0 x.nrrd
	item float '1 1' -- -1 >k.nrrd
	fails 1 'use least squares, --damp' wconv -k k.nrrd --deconvolve=1 x.nrrd
	gives '-1 -2 -3 -4 -5' -k k.nrrd --deconvolve=1 --damp=0
}

@test "a tile outside its image, and one smaller than the kernel, are refused" {
	item float '6 1' -- 1 1 1 1 1 1 >k.nrrd
	fails 1 'outside the image of 9x1' wconv -k k.nrrd <(item float '5 1' 'tile:=5 0 9 1' -- 1 2 3 4 5)
	fails 1 'tile:=5 0 is not' wconv -k k.nrrd <(item float '5 1' 'tile:=5 0' -- 1 2 3 4 5)
	for tile in '0 0 99999999999999999999 1' '0 0 134217729 1' '-1 0 9 1' '0 0 9 1 1' '0 0 9 x'; do
		fails 1 "tile:=$tile is not" wconv -k k.nrrd <(item float '5 1' "tile:=$tile" -- 1 2 3 4 5)
	done
	item float '5 1' 'tile:=1 0 9 1' -- 1 2 3 4 5 >x.nrrd
	fails 1 'a tile of 5x1 is smaller than the kernel of 6x1' wconv -k k.nrrd x.nrrd
	fails 1 'a tile cannot wrap' wconv -k <(item float '5 1' -- 1 1 1 1 1) --edge=wrap x.nrrd
}
