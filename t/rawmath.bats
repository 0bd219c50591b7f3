load lib

# rawmath: arithmetic on samples.

# values: lines of a value and its expression, of one sample, 5.
values() {
	gen --type=double values 1x1 5 >five
	while read -r want expression; do
		got=$(rawmath -- "$expression" five | rawtotext)
		[ "$got" = "$want" ] || { echo "$expression: $got, not $want" && return 1; }
	done
}

@test "operators bind as they should" {
	values <<-'END'
		7 1 + 2 * 3
		9 (1 + 2) * 3
		512 2 ^ 3 ^ 2
		-4 -2 ^ 2
		0.5 2 ^ -1
		2 8 / 2 / 2
		3 8 - 2 - 3
		1 a > 4 && a < 6
		1 0 || 2 > 1
		0 1 + 1 == 3
		1 !0 == 1
		10 a == 5 ? 10 : 20
		3 a < 1 ? 1 : a < 2 ? 2 : 3
		-1 -7 % 3
		2 a % 3
		1 1 <= 1
		0 1 >= 2
		1500 1.5E+3
		3.14159265 round(pi * 1e8) / 1e8
		-4 -7 // 2
		-4 7 // -2
		9 1 // .1
		1 6 & 3 == 2
		7 6 | 1 ^^ 3 & 2
		12 1 + 2 << 2
		-2 -3 >> 1
		-6 ~a
		4294967296 1 << 32
		2 1 && 0 || 1 ? 2 : 3
		nan .5 & 1
		nan nan | 1
		nan 2 ^ 53 ^^ 0
		nan 1 << 64
		nan ~.5
		inf 1 // 0
	END
}

@test "bits of a plane of flags choose samples, of any type of integers" {
	for type in int uint short int64; do
		gen --type=$type values 3x1 4096 8191 12 >dq
		gen --type=float values 3x1 1 2 3 >sci
		same <(rawmath 'a & 4096 ? nan : b' dq sci | rawtotext) 'nan nan 3'
	done
}

@test "a figure of an item is of all its samples but NaN, in a pipe and on any number of threads" {
	gen --type=float values 3x2 1 nan 7 3 5 100 >a
	gen --type=float values 3 1 2 4 >b
	lines <(cat a b | rawmath 'a > median(a)' | rawtotext | grep .) '0 0 1/0 0 1/0 0 1'
	lines <(rawmath 'max(a) - min(a) + min(b) + max(mean(b), 9)' a b | rawtotext) '109 109 109/109 109 109'
	same <(cat b | rawmath 'median(abs(a - median(a)))' | rawtotext) '1 1 1'
	same <(rawmath --sizes=2,1 'max(nan * x)' | rawtotext) 'nan nan'
	same <(rawmath --sizes=2,1 'std(x) + sum(x > 0 ? 8 : nan)' | rawtotext) '8.5 8.5'
	gen --type=float --seed=5 noise 301 207 >n
	rawmath -t 1 '(a - mean(a)) / median(abs(a - median(a)))' n >one
	rawmath -t 7 '(a - mean(a)) / median(abs(a - median(a)))' n | cmp - one
}

@test "functions, and what NaN does" {
	values <<-'END'
		5 abs(-a)
		2 sqrt(4)
		2 round(2.5)
		4 round(3.5)
		-2 trunc(-2.7)
		-3 floor(-2.7)
		-1 sign(-a)
		3 min(3, a)
		5 max(3, a)
		5 hypot(3, 4)
		3 clip(a, 1, 3)
		6 clip(a, 6, 7)
		8 where(a, 8, 9)
		1 isnan(nan)
		0 isnan(inf)
		0 nan == nan
		1 nan != nan
		0 nan < 1
		nan min(nan, 1)
		nan min(1, nan)
		nan max(1, nan)
		nan max(nan, 1)
		nan clip(nan, 0, 1)
		nan clip(1, nan, 2)
		nan clip(1, 0, nan)
		nan nan ^ 0
		nan pow(1, nan)
		nan hypot(nan, inf)
		nan nan ? 1 : 2
		nan nan && 1
		nan !nan
		inf 1 / 0
		0 exp(-inf)
	END
}

@test "inputs have letters or names, and several items are taken in turn" {
	pgm 3 1 9 1 5 9 >a.pgm
	pgm 3 1 9 2 2 2 >b.pgm
	same <(rawmath 'a - b' a.pgm b.pgm | rawtotext) '-1 3 7'
	same <(rawmath 'q * b + a' q=b.pgm b.pgm a.pgm 2>&1) "rawmath: 'a' is no input (a, b ... or NAME=FILE), no constant at character 9 of 'q * b + a'"
	same <(rawmath 'q * b + c' q=b.pgm b.pgm a.pgm | rawtotext) '5 9 13'
	lines <(cat a.pgm b.pgm | rawmath 'a * 2' | rawtotext | grep .) '2 10 18/4 4 4'
	lines <(cat a.pgm b.pgm | rawmath 'a + s' - s=b.pgm | rawtotext | grep .) '3 7 11/4 4 4'
	cat a.pgm b.pgm >ab
	cat a.pgm b.pgm a.pgm >aba
	fails 1 'ab: it has fewer items than aba' rawmath -o out 'a + b' aba ab
	fails 1 'ab: it has fewer items than aba' rawmath -o out 'a + b' ab aba
	rawmath 'a + b' aba b.pgm | rawtotext >want
	rawmath 's + b' s=b.pgm aba | rawtotext | cmp - want
	fails 1 '(stdin): it is needed more than once, so it must be a file' bash -c 'cat b.pgm | rawmath -o out "s + b" s=- aba'
}

@test "one sample and one picture serve whole items" {
	gen --type=float values 2x2x2 1 2 3 4 5 6 7 8 >a
	gen --type=float values 2x2 10 20 30 40 >b
	gen --type=float values 1x1 100 >c
	lines <(rawmath 'a + b + c' a b c | rawtotext | grep .) '111 122/133 144/115 126/137 148'
	lines <(rawmath 'a + b' b a | rawtotext | grep .) '11 22/33 44/15 26/37 48'
	gen --type=float values 3x2 1 2 3 4 5 6 >d
	fails 1 'd: its shape does not fit that of a' rawmath 'a + b' a d
}

@test "x, y, z are positions where axes have them" {
	gen --type=uchar values 2x2x2 0 0 0 0 0 0 0 0 >a
	lines <(rawmath 'x + 10 * y + 100 * z' a | rawtotext | grep .) '0 1/10 11/100 101/110 111'
	item float '2 2' 'spacings: .5 2' 'axis mins: 10 -1' -- 0 0 0 0 >a
	lines <(rawmath 'x' a | rawtotext) '10 10.5/10 10.5'
	lines <(rawmath 'y' a | rawtotext) '-1 -1/1 1'
}

@test "types: floats, doubles where digits need them, others by name" {
	gen --type=ushort values 2x1 1 2 >a
	rawmath a a | grep -ax 'type: float'
	gen --type=int values 2x1 16777217 2 >b
	rawmath a b | grep -ax 'type: double'
	same <(rawmath a b | rawtotext) '16777217 2'
	same <(rawmath --type=uchar 'a * 1.5' a | rawtotext) '2 3'
	fails 1 'sample 1 of the result is not in the range of uchar; see clip()' rawmath -o out --type=uchar 'a * 200' a
	fails 1 'sample 0 of the result is not in the range of int' rawmath -o out --type=int 'a / 0' a
	[ ! -e out ]
}

@test "shapes, keys and positions stay, and parts must be the same part" {
	item float '2 1' 'spacings: .5 2' 'tile:=4 6 10 20' 'kept:=yes' -- 1 2 >a
	item float '2 1' 'tile:=6 6 10 20' -- 1 2 >b
	rawmath 'a * 2' a | says 'spacings: 0.5 2' 'tile:=4 6 10 20' kept:=yes "history:=rawmath 'a * 2'"
	fails 1 'b: it is another part of a picture than a' rawmath 'a + b' a b
}

@test "wrong expressions are refused, and the place is named" {
	gen noise 2 2 >a.pgm
	while IFS='|' read -r expression what; do
		fails 2 "$what" rawmath "$expression" a.pgm
	done <<-'END'
		a +|a value is missing at character 4
		(a|a ) is missing at character 3
		a b|an operator is missing at character 3
		foo(a)|there is no such function at character 1
		c|'c' is no input (a, b ... or NAME=FILE), no constant at character 1
		pow(a)|the function takes another number of values
		median(a, a)|the function takes another number of values
		a & , a|a value is missing at character 5
		var(a)|there is no such function
		a ? 1|a : is missing
		|a value is missing
		1e5x|an operator is missing
	END
	fails 2 'nested too deeply' rawmath "$(printf '(%.0s' {1..300})a" a.pgm
	fails 2 'nested too deeply' rawmath -- "$(printf -- '-%.0s' {1..300})a" a.pgm
	fails 2 'too long' rawmath "a$(printf '+a%.0s' {1..600})" a.pgm
	fails 2 'an expression is missing' rawmath
	fails 2 "'a.pgm': files follow the expression" rawmath a.pgm
	fails 2 'an expression that begins with - follows --' rawmath -a a.pgm
	fails 2 'two inputs have the name q' rawmath q q=a.pgm q=a.pgm
	fails 2 'x is the position along an axis; give the input another name' rawmath x x=a.pgm
}

@test "results are those of each operation alone, for any number of threads" {
	for i in 1 2; do gen --type=float --seed=$i noise 1001 213 >$i; done
	rawmath 'x == 7 && y == 5 ? nan : a - .5' 1 >a
	rawmath 'a - .5' 2 >b
	for t in 1 7; do rawmath -t $t 'a > b ? (a - b) / (abs(a) + 1) : min(a * b, 2) - sqrt(b * b)' a b >$t; done
	cmp 1 7
	op() { rawmath --type=double "$@"; }
	op 'a / b' <(op 'a - b' a b) <(op 'a + 1' <(op 'abs(a)' a)) >above
	op 'a - b' <(op 'min(a, 2)' <(op 'a * b' a b)) <(op 'sqrt(a)' <(op 'a * a' b)) >below
	rawmath --type=float 'c ? p : q' c=<(op 'a > b' a b) p=above q=below | rawtotext | cmp - <(rawtotext 1)
}

@test "an input of one item serves all items of a stream from a pipe" {
	gen --seed=1 noise 300 200 >a.pgm
	gen --seed=2 noise 300 200 >b.pgm
	cat a.pgm b.pgm a.pgm b.pgm | rawmath 'a * 3 + b + x' - b.pgm | rawtotext | grep . >all
	for i in a b a b; do rawmath 'a * 3 + b + x' $i.pgm b.pgm | rawtotext; done | cmp all -
}

@test "the first input is computed as it is read" {
	head -c 20000000 /dev/zero >zero
	{ printf 'P5 20000 2000\n255\n' && cat zero zero; } |
		rawmath --type=uchar --stats=s 'a + 1' - | tail -c 3 | od -An -tu1 | grep -q '1   1   1'
	sanitized || [ "$(sed 's/.*"peak_bytes": \([0-9]*\).*/\1/' s)" -lt 20000000 ]
}

# sky CRVAL1 CRPIX1 CD1_1 [LINE ...]: a picture of 4 by 2 pixels of 1e-4 degrees at declination 60.
sky() {
	item float '4 2' fits.NAXIS:=2 "fits.CTYPE1:='RA---TAN'" "fits.CTYPE2:='DEC--TAN'" "fits.CRVAL1:=$1" 'fits.CRVAL2:=60.0' \
		"fits.CRPIX1:=$2" fits.CRPIX2:=1.0 "fits.CD1_1:=$3" fits.CD2_2:=1.0D-4 "${@:4}" -- 1 2 3 4 5 6 7 8
}

@test "a picture of another place in the sky, or with other positions, is named" {
	sky 10.0 1.0 -1e-4 >a
	sky 10.5 1.0 -1e-4 >far
	sky 10.0 2.0 -1e-4 >shifted
	sky 10.0 1.0 -2e-4 >coarse
	sky 9.998 11.0 -1e-4 >near # 10 pixels of .0001 degrees are .002 of right ascension there
	item float '4 2' -- 1 2 3 4 5 6 7 8 >none
	sky 10.0 1.0 -1e-4 'axis mins: 5 0' >moved
	sky 370.0 1.05 -1e-4 'axis mins: 0 0' >same
	item float '4 2' 'axis mins: 3 0' -- 1 2 3 4 5 6 7 8 >p3
	item float '4 2' 'axis mins: 4 0' -- 1 2 3 4 5 6 7 8 >p4
	for pair in 'a far' 'a shifted' 'a coarse' 'a moved' 'far near' 'p3 p4'; do
		read -r x y <<<"$pair"
		rawmath 'a - b' $x $y 2>&1 >/dev/null | grep -x "rawmath: $y: it is a map of another place than $x"
		rawstack $x $y 2>&1 >/dev/null | grep -x "rawstack: $y: item 2: it is a map of another place than the first item"
		rawlabel --values=$y --to=csv $x 2>&1 >/dev/null | grep -x "rawlabel: $y: it is a map of another place than $x"
		morphrec -m $y $x 2>&1 >/dev/null | grep "morphrec: $y: it is a map of another place than $x"
		rawjoin --overlap=sum $x $y 2>&1 >/dev/null | grep 'another place than the items before'
		dptrace --mask=$y -p 0,0 -p 3,1 $x 2>&1 >/dev/null | grep -x "dptrace: $y: it is a map of another place than $x"
		rawback --mask=$y $x 2>&1 >/dev/null | grep -x "rawback: $y: it is a map of another place than $x"
	done
	for y in none near same; do
		rawmath 'a - b' a $y 2>&1 >/dev/null | cmp - /dev/null
		rawmath 'a - b' $y a 2>&1 >/dev/null | cmp - /dev/null
	done
	rawmath 'a - b' none p4 2>&1 >/dev/null | cmp - /dev/null
}

@test "an expression has words and powers as in Python, and needs no input with --sizes" {
	[ "$(rawmath --sizes=5x1 'not x > 1 or x ** 2 == 9 and -2 ** 2 < 0' | rawtotext)" = '1 1 0 1 0' ]
	[ "$(rawmath --sizes=2,1,2 'not + android' not=<(pgm 1 1 9 1) 2>&1)" = 'rawmath: --sizes: goes without inputs' ]
	[ "$(pgm 1 1 9 1 | rawmath 'not + 2' not=- | rawtotext)" = 3 ]
	rawmath --sizes=2,3 --type=uchar --pnm 'x + 2*y' | cmp - <(pgm 2 3 255 0 1 2 3 4 5)
	fails 2 "--sizes: '2,0' is not W,H,..., 1 to 16 sizes; each is a whole number in 1.." rawmath --sizes=2,0 1
	fails 2 "a value is missing at character 5 of 'x or'" rawmath --sizes=2 'x or'
	fails 1 'their product overflows' rawmath --sizes=2147483648,2147483648,2147483648 1
}
