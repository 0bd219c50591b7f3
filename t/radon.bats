# radon: streams of gathers, options, what must be refused. The numbers are t/check_radon.c's.
load lib

# gathers N...: the N-trace gathers of 100 samples of these sizes, one item each.
gathers() {
	local n
	for n; do gencmp --traces="$n" --samples=100 --step=$((3000 / n)); done
}

curves='-q -0.1:0.3:40 -X 3000'
hyperbolas='-q 0:3:61 -X 3000 --curve=hyperbolic --quiet'
axes='-q -0.1:0.2:11 --qy=-0.1:0.3:9 -X 3000 --quiet'

# columns FILE...: their samples side by side, one of each in a line.
columns() {
	local file names=()
	for file; do
		names+=("column${#names[@]}")
		samples "$file" | tr ' ' '\n' >"${names[-1]}"
	done
	paste "${names[@]}"
}

# energy EXPRESSION FILE...: of an expression of the samples $1, $2 ... of these files.
energy() {
	local expression=$1
	shift
	columns "$@" | awk "{ v = $expression; e += v * v } END { printf \"%.9g\", e }"
}

# below A B: is A < B? Both may be products.
below() {
	awk "BEGIN { exit !($1 < $2) }"
}

# near A B BOUND: no samples of two items differ by more.
near() {
	columns "$1" "$2" | awk -v most="$3" '{ e = $1 - $2; if (!(e <= most && -e <= most)) bad = 1 } END { exit bad || !NR }'
}

# adds_up GATHER MODEL LEFT BOUND: MODEL and LEFT are GATHER, where that is not 0.
adds_up() {
	columns "$1" "$2" "$3" | awk -v most="$4" '{ e = $1 - $2 - $3; if ($1 != 0 && !(e <= most && -e <= most)) bad = 1 }
		END { exit bad || !NR }'
}

# change FILE EXPRESSION: the item of floats, each sample $_ replaced by that expression.
change() {
	head -c "$(rawinfo --skip "$1")" "$1"
	tail -c +$(($(rawinfo --skip "$1") + 1)) "$1" | perl -0777 -ne "print pack 'f<*', map { $2 } unpack 'f<*'"
}

@test "radon: a panel's axes are tau and q, from before the gather on, or with --cut its own times; one curve is one row" {
	gencmp | radon $curves --quiet >r
	says 'labels: "tau" "q"' 'units: "s" "s"' 'sizes: 600 40' cdp:=100 'radon_gather:=60 500 0' <r
	grep -aq '^axis mins: -0.29999.* -0.1' r
	gencmp | radon $curves --quiet --cut >c
	grep -aq '^sizes: 500 40$' c
	grep -aq '^axis mins: 0 ' c
	cmp <(samples c) <(samples r | cut -d' ' -f76-575)
	gathers 24 | radon -q 0:0:1 -X 3000 >p
	grep -aq '^sizes: 100 1$' p
	radon --model p | grep -aq '^sizes: 100 24$'
}

@test "radon: lsq and then --model needs no options, gives back traces, labels and offsets, and is what --subtract takes" {
	gencmp --axis >d
	for mute in '' --mute=.05; do
		radon $curves --lsq $mute --quiet d | radon --model >m
		radon $curves --lsq $mute --quiet --subtract d >s
		says 'sizes: 500 60' 'labels: "t" "offset"' 'units: "s" "m"' 'spacings: 0.0040000000000000001 50' <m
		run -1 grep -aq radon_ m
		adds_up d m s 1e-5
	done
}

@test "radon: multiples go by 30 dB, primaries stay within 5 %; late events that are 30 dB weaker are separated too" {
	for part in all primaries multiples; do
		gencmp --part=$part >d-$part
		radon -q -0.3:0.7:200 -X 3000 --mute=.1 --taper=.06 --subtract --quiet d-$part >o-$part
	done
	below "$(energy '$1' o-multiples)" "$(energy '$1' d-multiples) * .001"
	for part in all primaries; do
		below "$(energy '$1 - $2' o-$part d-primaries)" "$(energy '$1' d-primaries) * .0025"
	done
	radon -q -0.3:0.7:200 -X 3000 --sparse --mute=.1 --taper=.06 --subtract --quiet d-all | rawtonpy | cmp - <(rawtonpy o-all)
	for part in all primaries; do
		gencmp --part=$part >d
		change d '$_ * exp(-.012 * ($n++ % 500))' >weak-$part
	done
	radon -q -0.3:0.7:200 -X 3000 --mute=.05 --subtract --quiet weak-all >o
	below "$(energy '(NR - 1) % 500 >= 300 ? $1 - $2 : 0' o weak-primaries)" \
		"$(energy '(NR - 1) % 500 >= 300 ? $1 : 0' weak-primaries) * .045"
}

@test "radon: SU to SU in one pipeline keeps every header" {
	gencmp --gathers=3 | rawtosu >line.su
	sutoraw line.su | radon $curves --lsq --mute=.1 --subtract --quiet | rawtosu --headers line.su >p.su
	[ "$(stat -c %s p.su)" -eq "$(stat -c %s line.su)" ]
	for i in 0 59 179; do
		cmp <(tail -c +$((i * 2240 + 1)) p.su | head -c 240) <(tail -c +$((i * 2240 + 1)) line.su | head -c 240)
	done
	run -1 cmp -s p.su line.su
}

@test "radon: any mix of gathers in one stream equals each alone, on any number of threads" {
	gathers 24 24 1 24 24 24 24 500 12 24 >mix
	gencmp --traces=24 --samples=100 --step=125 --gathers=9 >>mix
	for mode in '' '--lsq --subtract' --sparse; do
		{
			for n in 24 24 1 24 24 24 24 500 12 24; do gathers $n | radon $curves $mode --quiet; done
			gencmp --traces=24 --samples=100 --step=125 --gathers=9 | radon $curves $mode --quiet
		} >solo
		for t in 1 2 5; do
			radon $curves $mode -t $t --quiet mix >mix-$t
			cmp mix-$t solo
		done
	done
}

@test "radon: dead traces and dead gathers in a stream equal their solo runs, and dead traces stay dead" {
	gathers 24 >live
	change live 'int($n++ / 100) == 1 ? 0 : $_' >dead
	change live 0 >zero
	radon $curves --lsq --subtract --quiet -t 2 <(cat live dead zero live zero dead) >got
	for f in live dead zero live zero dead; do radon $curves --lsq --subtract --quiet $f; done | cmp - got
	[ "$(radon $curves --lsq --subtract --quiet dead | samples /dev/stdin 2>/dev/null | sed -n 2p | tr -d ' 0\n')" = '' ]
	radon $curves --lsq --quiet zero >p
	[ "$(samples p | tr -d ' 0\n')" = '' ]
}

# volume SIZES: the gather on stdin as one item of three axes of these sizes.
volume() {
	sed "s/^dimension: 2/dimension: 3/; s/^sizes: .*/sizes: $1/; s/^kinds: .*/kinds: domain domain domain/
		s/^centers:.*/centers: node none none/; s/^spacings: .*/spacings: 0.004 nan nan/; s/^axis mins: .*/axis mins: 0 nan nan/
		s/^labels: .*/labels: \"t\" \"trace\" \"cmp\"/; s/^units: .*/units: \"s\" \"\" \"\"/"
}

@test "radon: gathers may be planes of one item" {
	gathers 24 >one
	{ volume '100 24 2' <one && tail -c 9600 one; } >two
	for i in one two; do
		radon $curves --quiet $i >p-$i
		radon --model p-$i >m-$i
	done
	grep -aq '^sizes: 200 40 2$' p-two
	grep -aq '^sizes: 100 24 2$' m-two
	for i in p m; do cmp <(samples $i-two) <(samples $i-one && samples $i-one); done
}

@test "radon: offsets come from --offsets before the key, for one gather or for all, and a wrong number is an error" {
	gathers 3 3 >d
	echo 10 20 30 >three
	echo 10 20 30 40 50 60 >six
	[ "$(radon $curves --quiet --offsets=three d | grep -ac '^offsets:=10 20 30$')" -eq 2 ]
	radon $curves --quiet --offsets=six d >p
	says 'offsets:=10 20 30' 'offsets:=40 50 60' <p
	echo 1 2 >two
	fails 1 'two: 2 numbers: neither 3, the traces of a gather' radon $curves --quiet --offsets=two d
	echo 1 2 3 4 5 6 7 >seven
	fails_later 1 'seven: 1 numbers left over' radon $curves --quiet --offsets=seven d
	for bad in '1 2 x' '1 2 nan'; do
		fails 1 'not a list of finite numbers' radon $curves --offsets=<(echo "$bad") d
	done
	fails 1 '2 offsets for 3 traces' radon $curves <(sed 's/^offsets:=1000 2000 3000/offsets:=1000 2000     /' d)
	fails 1 'no offsets' radon $curves <(sed 's/^offsets:=/offsetz:=/' d)
}

@test "radon: --model --offsets=FILE models any traces, nearer, farther, more or fewer" {
	radon -q -0.1:0.7:100 -X 3000 --sparse=1e-4 --quiet <(gencmp --part=multiples --traces=40 --step=50) >p
	gencmp --part=multiples --traces=20 --step=25 >near
	gencmp --part=multiples --traces=45 --step=50 >far
	for f in near far; do
		sed -n 's/^offsets:=//p;/^$/q' $f >$f.txt
		radon --model --offsets=$f.txt p >m
		grep -aq "^offsets:=$(cat $f.txt)\$" m
		below "$(energy '$1 - $2' m $f)" "$(energy '$1' $f) * .05"
	done
}

@test "radon: the zeros that a trace begins or ends with stay zeros" {
	gathers 24 >d
	change d '$i = $n++ - 500; 0 <= $i && $i < 30 || 90 <= $i && $i < 100 ? 0 : $_' >muted
	for mode in --lsq --sparse; do
		radon $curves $mode --subtract --quiet muted >o
		[ "$(samples o | sed -n 6p | cut -d' ' -f1-30,91-100 | tr -d ' 0')" = '' ]
		[ "$(samples o | sed -n 6p | cut -d' ' -f31-90 | tr -d ' 0')" != '' ]
	done
}

@test "radon: subtracting too much, and events beyond the curves, are warnings, each once" {
	gencmp --gathers=3 >d
	hints 'radon: item 1: gather 1: events lie beyond the high end of the curves: widen -q' radon -q -0.1:0.1:60 -X 3000 --lsq --subtract d >o
	[ "$(wc -l <stderr)" -eq 1 ]
	hints 'item 1: gather 1: what is subtracted is too strong (alpha 0' radon -q 0:0.05:60 -X 3000 --lsq=1e-5 --mute=0.02 --subtract d >o
	remarks '' radon -q -0.1:0.5:60 -X 3000 --mute=0.1 --subtract d >o
}

@test "radon: tiny and huge amplitudes give the same result, scaled" {
	gathers 24 >zeros
	change zeros '$_ + .01' >d
	for mode in '--lsq --mute=.1 --subtract' '--sparse --mute=.1 --subtract' --sparse '' \
		'--sparse --curve=hyperbolic -q 0:1:20'; do
		radon $curves $mode --quiet d >want
		for e in -100 -60 60 110; do
			change d "\$_ * 2 ** $e" >s
			radon $curves $mode --quiet s >got
			change got "\$_ * 2 ** $((-e))" >same
			near want same 1e-6
		done
	done
	change d '$_ * 2 ** -90' >s
	radon $curves --lsq --quiet s | radon --model >m
	radon $curves --lsq --quiet d | radon --model >want
	change m '$_ * 2 ** 90' >same
	near want same 1e-6
}

@test "radon: results too large for floats are an error, and what fits them is kept" {
	gathers 24 >d
	radon $curves --quiet d >p
	fails 1 'item 1: gather 1: the results are too large for floats' radon $curves --quiet <(change d 2e37)
	fails 1 'item 1: gather 1: the results are too large for floats' radon --model --quiet <(change p 2e37)
	change d '1e36' | radon $curves --quiet >r
	change d '$_ * 1e38' | radon $curves --quiet --mute=.1 --subtract >s
	for f in r s; do run -1 grep -q inf <(samples $f); done
}

@test "radon: traces at one offset are left as they are, and few offsets are a warning" {
	gathers 1 >one
	gathers 4 >four
	echo 700 700 700 700 >same
	for mode in --lsq --sparse; do
		hints 'item 1: gather 1: one offset does not tell curves apart: nothing is subtracted; -k of sutoraw' \
			radon $curves $mode --mute=.1 --subtract one >o
		cmp <(samples one) <(samples o)
		radon $curves $mode --mute=.1 --subtract --offsets=same --quiet --stats=s four >o
		cmp <(samples four) <(samples o)
		grep -q '"few_offsets": 1' s
		hints 'item 1: gather 1: fewer than 6 offsets: primaries are subtracted' radon $curves $mode --mute=.1 --subtract four >o
		run -1 cmp -s <(samples four) <(samples o)
		remarks '' radon $curves $mode --subtract one >o
		run -1 cmp -s <(samples one) <(samples o)
	done
	gathers 6 | radon $curves --mute=.1 --subtract 2>err >o
	run -1 grep -q offsets err
}

@test "radon: --sparse=auto takes a tenth of that NU, and noise leaves the primaries better" {
	gencmp --part=multiples >multiples
	gencmp >clean
	change clean 'srand 1 unless $n++; $_ + .4 * (rand() + rand() + rand() - 1.5)' >noisy
	for g in clean noisy; do
		radon $curves --sparse=auto --subtract --mute=.1 --quiet -v $g 2>err >o-$g
		nu=$(sed -n 's/.*, NU \([^,]*\),.*/\1/p' err)
		radon $curves --lsq=auto --quiet -v $g 2>&1 >/dev/null |
			grep -q ", NU $(awk "BEGIN { print 10 * $nu }"),"
		radon $curves --sparse=$nu --subtract --mute=.1 --quiet $g >o
		cmp <(samples o) <(samples o-$g)
	done
	radon $curves --sparse=.007 --subtract --mute=.1 --quiet noisy >fixed
	below "$(energy '$1 - $2 + $3' o-noisy noisy multiples)" "$(energy '$1 - $2 + $3' fixed noisy multiples) * .75"
	radon $curves --sparse=auto --subtract --mute=.1 --quiet -t 1 clean >o1
	cmp <(samples o-clean) <(samples o1)
	# Gathers of one batch have each their own NU.
	for i in 1 2 3; do cat clean noisy noisy; done |
		radon $curves --sparse=auto --subtract --mute=.1 --quiet -v -t 2 2>err >o
	for i in 1 2 3; do cat o-clean o-noisy o-noisy; done | cmp - o
	[ "$(sed 's/.*, NU \([^,]*\),.*/\1/' err | sort -u | wc -l)" -eq 2 ]
}

@test "radon: --sparse raises its NU where curves explain little, as with traces of noise" {
	gencmp --part=multiples >multiples
	gencmp >clean
	change clean 'srand 1 unless $n++; int(($n - 1) / 500) % 10 == 5 ? 4 * rand() - 2 : $_' >noisy
	remove="radon $curves --subtract --mute=.1 --balance=no"
	$remove -v -t 1 noisy 2>err >raised
	nu=$(sed -n 's/.*, NU \([^,]*\),.*/\1/p' err)
	below .015 "$nu"
	below "$nu" .1
	$remove --quiet --sparse=.007 noisy >low
	# All but every tenth trace, which is noise.
	wrong='int((NR - 1) / 500) % 10 != 5 ? $1 - $2 + $3 : 0'
	below "$(energy "$wrong" raised noisy multiples)" "$(energy "$wrong" low noisy multiples) * .9"
	$remove --quiet -t 2 noisy >again
	cmp <(samples raised) <(samples again)
	# What the curves explain keeps its NU, and so does a NU that the user names.
	hints ', NU 0.007,' $remove -v clean >a
	$remove -v --sparse=.007 clean 2>err >b
	run -1 grep -q NU err
	cmp <(samples a) <(samples b)
	# Gathers of one batch have each their own NU.
	cat noisy clean noisy | $remove -v 2>err >out
	grep -o 'NU [^,]*' err | cmp - <(printf 'NU %s\n' "$nu" 0.007 "$nu")
}

@test "radon: a polygon that reaches far equals a cut in q" {
	gencmp >d
	printf '# all that is later\n-9 .1\n-9 99 # left\n# right\n99 99\n99 .1\n' >far
	radon $curves --lsq --subtract --mute=.1 --quiet d >a
	radon $curves --lsq --subtract --polygons=far --quiet d >b
	near a b 1e-5
	fails 1 'line 3: a polygon has at least 3 corners' radon $curves --polygons=<(printf '0 1\n1 1\n\n') d
	fails 1 "line 2: '1 1 1' is not a corner" radon $curves --polygons=<(printf '0 1\n1 1 1\n') d
	fails 1 'null: no polygon' radon $curves --polygons=/dev/null d
	fails 2 'one of --mute and --polygons' radon $curves --mute=1 --polygons=far d
}

@test "radon: duplicate, equal, zero and negative offsets are offsets" {
	gathers 4 >d
	for o in '500 500 1000 1000' '700 700 700 700' '0 0 0 0' '-100 -2000 300 -3000'; do
		echo "$o" >o
		for mode in '' --lsq --lsq=0 --sparse; do
			radon $curves $mode --quiet --offsets=o d >p
			run -1 grep -q nan <(samples p)
			[ -s p ]
		done
	done
	echo 1 2000 300 3000 >plus
	echo -1 -2000 -300 -3000 >minus
	cmp <(radon $curves --quiet --offsets=plus d | tail -c 8000) <(radon $curves --quiet --offsets=minus d | tail -c 8000)
}

@test "radon: NaN and infinity are errors that name gather and trace; --nan=zero takes them for 0" {
	gathers 24 >one
	cat one <(change one '$n++ == 507 ? 0 : $_') >zero
	for v in nan -inf; do
		cat one <(change one "\$n++ == 507 ? '$v' : \$_") >bad
		fails_later 1 'bad: item 2: gather 1: trace 6: sample 8 is' radon $curves --quiet -t 1 bad
		radon $curves --lsq --quiet --nan=zero bad | grep -av '^history' >a
		radon $curves --lsq --quiet --nan=zero zero | grep -av '^history' | cmp - a
	done
}

@test "radon: doubles and integers are gathers too, and a double that no float holds is named" {
	radon -q 0:0:1 -X 1 --cut --quiet <(item short '3 1' 'spacings: .004 nan' 'offsets:=1' -- 1 2 3) >p
	grep -aq '^type: float$' p
	[ "$(samples p | xargs printf '%.3f ')" = '1.000 2.000 3.000 ' ]
	item double '3 1' 'spacings: .004 nan' 'offsets:=1' -- 1 -1e300 2 >d
	fails 1 'gather 1: trace 1: sample 2 is -1e+300; --nan=zero takes it for 0' radon -q 0:0:1 -X 1 d
	radon -q 0:0:1 -X 1 --cut --quiet --nan=zero d >p
	samples p | awk '{ exit !($1 > .99 && $2 ^ 2 < 1e-9 && $3 > 1.99) }'
}

@test "radon: gathers before one that fails are written" {
	gencmp --traces=8 --samples=40 >good
	gencmp --traces=9 --samples=40 >wider
	rawmath --type=float 'nan' good >bad
	for n in 1 4 9 23; do
		for ((i = 0; i < n; i++)); do cat good; done >before
		cat wider >>before
		cat before bad good >many
		for how in '' '--lsq=auto --quiet'; do
			radon $curves $how -t 1 before >want
			for t in 1 2 7; do
				run -1 --separate-stderr radon $curves $how -t $t -o got many
				[ ! -e got ]
				fails_later 1 "radon: many: item $((n + 2)): gather 1: " radon $curves $how --quiet -t $t many
				grep -q nan stderr
				cmp want stdout
			done
		done
	done
}

@test "radon: a curve or a reference offset for --model replaces that of the panel, and keeps the other" {
	gathers 24 | radon -q 0:.1:5 -X 3000 --curve=foster-mosher --depth=1500 >p
	radon --model --curve=foster-mosher --depth=1500 -X 2000 p | rawtonpy >want
	radon --model -X 2000 p | rawtonpy | cmp - want
	radon --model --curve=parabolic -X 3000 p | rawtonpy >want
	radon --model --curve=parabolic p | rawtonpy | cmp - want
	run -1 cmp want <(radon --model p | rawtonpy)
}

@test "radon: options that exclude each other, and input that does not suit them, are refused" {
	gathers 24 >d
	gen ramp 5 5 >image.pgm
	gen values 4 1 2 3 4 >v
	radon $hyperbolas d >panel
	all_fail radon <<END
2|one of --lsq, --sparse and --model|$curves --lsq --sparse
2|one of --lsq, --sparse and --model|$curves --lsq --model
2|--subtract goes with|--model --subtract
2|--method=time has no inverse|$curves --lsq --method=time
2|--fmin and --fmax|$curves --fmax=9 --method=time
2|--depth needs --curve=foster-mosher|$curves --depth=5
2|--curve=foster-mosher needs --depth|$curves --curve=foster-mosher
2|are for panels|--model --mute=1
2|--taper needs --mute|$curves --taper=1
2|--adapt needs --subtract|$curves --adapt
2|--adapt|$curves --subtract --adapt=1
2|--adapt|$curves --subtract --adapt=-1:1:.02
2|--adapt|$curves --subtract --adapt=1:-1:.02
2|--adapt|$curves --subtract --adapt=1:1.5:.02
2|--adapt|$curves --subtract --adapt=1:1:0
2|--adapt|$curves --subtract --adapt=nan:1:.02
2|-g: goes without|$curves --lsq --subtract --adapt -g
2|-g: --subtract implies --sparse, which goes without -g: give --lsq|$curves --mute=.05 --subtract -g
2|--cut is for panels|$curves --lsq --subtract --cut
2|do not ascend|$curves --lsq --mute=2:1,1:1
2|--mute|$curves --lsq --mute=1:2:3
2|--mute: '1:.1,' is no list|$curves --lsq --mute=1:.1,
2|--lsq|$curves --lsq=-1
2|--lsq: 'autumn' is not a number|$curves --lsq=autumn
2|--sparse|$curves --sparse=x
2|--fmin=20 is above --fmax=10|$curves --fmin=20 --fmax=10
2|--mute=auto goes with|$curves --mute=auto --lsq
2|--mute=auto goes with|-q 0:.3:4 -X 9 --mute=auto --subtract
2|--mute=50: no curve lies above it; the highest is 0.3|$curves --mute=50 --subtract
2|--mute=1:.3,2:.4: no curve|$curves --mute=1:.3,2:.4 --lsq
2|the highest is 0.2|-q 0:.3:4 --qy=0:.1:4 -X 9 --mute=.2
2|--adjoint|$curves --adjoint
2|-q is required|-X 3000
2|d: -X is required; the farthest offset is -X 3000|-q 0:1:5 d
2|above 0|-q 0:1:5 -X 0
2|0 or more|-q -1:1:5 -X 3000 --curve=hyperbolic
2|--method=time alone|$hyperbolas --method=nufft
2|--fmin and --fmax|$hyperbolas --fmax=50
2|--lsq=auto goes without|$hyperbolas --lsq=auto
2|--sparse=auto goes without|$hyperbolas --sparse=auto
2|-g: goes without|$hyperbolas -g
2|--azimuth needs --qy|$curves --azimuth=3
2|the curves of --model|--model --qy=0:1:3
2|--qy: '1:0:3'|$curves --qy=1:0:3
2|more than 1000000|-q 0:1:2000 --qy=0:1:2000 -X 1
2|parabolic and linear curves|$axes --curve=foster-mosher --depth=1
2|parabolic and linear curves|-q 0:1:3 --qy=0:1:3 -X 1 --curve=hyperbolic
2|--method=time|$axes --method=time
2|--lsq=auto goes without --qy|$axes --lsq=auto
2|--sparse=auto goes without --qy|$axes --sparse=auto
2|-g: goes without --qy|$axes -g
1|axis 0 has no spacing|$curves image.pgm
1|not a gather|$curves v
1|moveouts of up to 300 s on traces of 0.4 s: q is in seconds|-q -100:300:40 -X 3000 d
1|at the reference offset X, which is 1;|-q -0.1:0.3:40 -X 1 d
1|a panel of 1000000 curves of at least 100 samples is larger than 1048576 bytes|-q -0.1:0.3:1000000 -X 3000 --max-bytes=1M d
1|--fmax=200 is above Nyquist, 125 Hz|$curves --fmax=200 d
1|--fmin=130 is above Nyquist, 125 Hz|$curves --fmin=130 d
1|(X/v)^2|-q 0:3:61 -X 1 --curve=hyperbolic d
1|no band|--model --fmax=10 panel
END
	fail_alike 2 '-q' 'radon -q @ -X 3000' 0:1:0 1:0:10 0:0:2 0:1:1 0:1 0:1:2.5 0:1:x 0:1:2:3 nan:1:3 </dev/null
	radon $curves --fmax=125 --quiet d >p
	radon $curves --mute=1:.2,2:.4 --lsq --quiet d >p
}

@test "radon: --mute=auto reports the cut it finds, better than one among the multiples" {
	gencmp >d
	gencmp --part=primaries >p
	hints 'cut 0.0[0-9]*, taper 0.0' radon $curves --subtract --mute=auto -v -t 1 d >a
	radon $curves --subtract --quiet --mute=auto -t 7 d | cmp - a
	radon $curves --subtract --quiet --mute=.15 d >late
	below "$(energy '$1 - $2' a p) * 4" "$(energy '$1 - $2' late p)"
}

@test "radon: --adapt matches multiples whose gain differs from trace to trace" {
	gencmp --samples=1000 --part=primaries >p
	gencmp --samples=1000 --part=multiples >m
	# The multiples have other gains from trace to trace: .6, 1 and 1.4.
	for i in $(seq 60); do yes $((6 + i % 3 * 4))e-1 | head -n 1000; done |
		texttoraw --type=float --sizes=1000,60 >gain
	rawmath 'a*b+c' m gain p >d
	subtract='radon -q -0.1:0.5:61 -X 3000 --mute=.06 --subtract'
	$subtract -v d 2>err >plain
	run -1 grep -q adapted err
	hints 'adapted with L 0' $subtract --adapt -v d >adapted
	below "$(energy '$1 - $2' adapted p)" "$(energy '$1 - $2' plain p) * .36"
	$subtract --adapt=0:1:.016 --quiet -t 1 --stats=s d | tail -c 240000 | cmp - <(tail -c 240000 adapted)
	grep -q '"adapted": *1\b' s
	for mode in '--adapt=9:1:.016' '--adapt=1:9:.008' '--lsq --adapt=0:0:.1'; do
		$subtract $mode -t 1 d >one
		$subtract $mode -t 3 d | cmp - one
	done
	# A gather whose multiples fit stays as it was.
	rawmath 'a+b' m p >fits
	hints 'not adapted' $subtract --adapt -v fits >adapted
	$subtract fits | tail -c 240000 | cmp - <(tail -c 240000 adapted)
	fails 1 'a filter of 0.804 s has more than 201 samples' $subtract --adapt=0:1:.804 d
}

@test "radon: aliasing is a warning, also of a later gather of the same plan, and so are moveouts longer than the traces" {
	gencmp --traces=24 --samples=300 --step=125 >d
	change d 1 >flat
	for t in 1 3; do
		hints '^radon: item 3: gather 1: curves 0.05263 s apart alias above 19.0. Hz, and 99 % of the energy reaches to [45]' radon -q 0:1:20 -X 3000 -t $t flat flat d d >p
		[ "$(wc -l <stderr)" -eq 1 ]
	done
	radon -q 0:1:20 -X 3000 flat 2>err >p
	radon -q 0:1:20 -X 3000 --fmax=19 d 2>>err >p
	radon -q 0:1:80 -X 3000 d 2>>err >p
	[ ! -s err ]
	gathers 24 24 >d
	hints '^radon: item 1: gather 1: moveouts of up to 0.41 s on traces of 0.4 s: is -X, 3000, the farthest offset?$' radon -q 0:.41:4 -X 3000 d >p
	[ "$(wc -l <stderr)" -eq 1 ]
	radon --model p 2>err >m
	radon -q 0:.41:80 -X 3000 --curve=linear d 2>>err >p
	radon -q 0:.41:80 -X 3000 --curve=hyperbolic d 2>>err >p
	radon -q 0:.39:80 -X 3000 d 2>>err >p
	[ ! -s err ]
}

@test "radon: a trace far louder than those beside it, and one with an offset far from all, are named" {
	gathers 30 >g.nrrd
	change g.nrrd '$i++ / 100 < 12 && $i > 1100 ? 5 * $_ : $_' >loud.nrrd
	change g.nrrd '++$i == 1150 ? 100 : $_' >spike.nrrd
	for f in loud spike; do
		for mode in '--subtract --balance=no' '--lsq --cut' --subtract '--subtract --lsq'; do
			does=spoils
			[[ $mode != *--subtract* || $mode = *=no ]] || does='all are made equally strong: see --balance'
			hints "^radon: item 1: gather 1: trace 12 has [0-9.e+]* times the energy of those beside it, and $does" radon $curves --mute=.05 $mode $f.nrrd >r
			run -1 grep -q 'widen -q' stderr
		done
		remarks '' radon $curves $f.nrrd >r
	done
	# Traces that become louder towards the source are usual.
	change g.nrrd '$_ * 30 / (1 + int($i++ / 100))' | radon $curves --mute=.05 --subtract 2>err >r
	run -1 grep -q loud err
	for far in 1e6 20000; do
		sed "0,/ 1200 /s// $far /" g.nrrd >odd.nrrd
		radon $curves --mute=.05 --subtract odd.nrrd 2>err >r || true
		grep -q "gather 1: trace 12: an offset of ${far/e6/e+06}, with moveouts of up to .* is far from most others; --offsets" err
		rawstack g.nrrd odd.nrrd >both.nrrd
		radon $curves --mute=.05 --subtract both.nrrd 2>err >r || true
		grep -q "gather 2: trace 12: an offset of ${far/e6/e+06}, with" err
	done
}

@test "radon: with --balance neither a loud trace nor a spike spoils the others, and what is not solved keeps its bytes" {
	local solve="radon $curves --mute=.05 --subtract --balance"
	gathers 30 >g.nrrd
	$solve g.nrrd >want
	change g.nrrd '$i++ / 100 < 12 && $i > 1100 ? 32 * $_ : $_' >loud.nrrd
	remarks '' $solve loud.nrrd >got
	change got '$i++ / 100 < 12 && $i > 1100 ? $_ / 32 : $_' | rawmath 'abs(a - b)' a=- b=want | rawinfo | grep -x 'max: 0'
	change g.nrrd '++$i == 1150 ? 1e4 : $_' >spike.nrrd
	remarks '' $solve spike.nrrd >o
	rawaxes --crop=1:12:30 o >got
	rawaxes --crop=1:12:30 want | rawmath '(a - b)**2 - .01 * b**2' a=got b=- | rawinfo | grep '^mean: -'
	$solve <(change g.nrrd '$i++ < 100 ? 0 : $_') | rawaxes --crop=1:0:1 | rawinfo | grep -x -e 'min: 0' -e 'max: 0' | wc -l | grep -x 2
	sed 's/^offsets:=.*/offsets:=7 7 7 7 7/' <(rawaxes --crop=1:0:5 loud.nrrd) >same.nrrd
	$solve same.nrrd 2>err | tail -c 2000 | cmp - <(tail -c 2000 same.nrrd)
	fails 2 '--balance needs --subtract' radon $curves --balance g.nrrd
	# By itself where a trace is loud or events follow traces of uneven strength, but not where noise makes them uneven.
	change g.nrrd '$_ * 30 / (2 + int($i++ / 100))' >near.nrrd
	gencmp >60.nrrd
	change 60.nrrd 'srand 1 unless $i; $i++ / 500 < 20 ? $_ + 4 * rand() - 2 : $_' >noise.nrrd
	for f in near=yes loud=yes spike=yes g=no noise=no; do
		${solve% *} --quiet "${f%=*}.nrrd" >got
		${solve% *} --balance="${f#*=}" --quiet "${f%=*}.nrrd" >want
		near got want 0
	done
	cat near.nrrd loud.nrrd g.nrrd noise.nrrd >all.nrrd
	hints '1: some traces are far stronger than most, and all are made equally strong: see --bal' ${solve% *} -t 1 --stats=stats all.nrrd >o
	grep -q '"balanced": 2' stats
	${solve% *} --quiet -t 7 all.nrrd | cmp - o
}

@test "radon: a part of a picture is a warning, its offsets are those of its traces, and a panel is no part" {
	gathers 8 >g.nrrd
	rawtile --grid=2x2 g.nrrd >parts.nrrd
	[ "$(rawinfo parts.nrrd | grep '^offsets' | sort -u | xargs)" = 'offsets:=1875 2250 2625 3000 offsets:=375 750 1125 1500' ]
	radon $curves parts.nrrd >r 2>err
	[ "$(grep -c '^radon: parts.nrrd: item .: a part of a picture (tile:=.*): what lies beyond its sides is not seen; see rawjoin$' err)" -eq 4 ]
	run -1 grep -a ^tile r
	radon $curves --mute=.05 --subtract --quiet parts.nrrd | rawjoin >whole.nrrd
	[ "$(rawinfo whole.nrrd | grep -e ^sizes -e ^offsets)" = "$(rawinfo g.nrrd | grep -e ^sizes -e ^offsets)" ]
}

@test "radon: -v says misfit and condition; silent without; on one thread, the seconds of the stages add up to the total at most" {
	gathers 24 | hints 'radon: item 1: gather 1: misfit [0-9].*, condition at least .*, 0 frequencies' radon $curves --lsq --quiet -v >p
	gathers 24 | remarks '' radon $curves --lsq --quiet >p
	gathers 24 24 24 | radon $curves --lsq -t 1 --stats=stats >/dev/null
	awk '{ gsub(/[^0-9.]+/, " "); exit !($1 + $2 + $3 + $4 < $5 + 1e-5) }' <(grep -o '"seconds": {[^}]*}' stats)
}

@test "radon: a panel that suits no gather is an error" {
	gathers 24 | radon $curves --quiet >p
	radon --model <(sed 's/^radon_gather:=24 100 0/radon_gather:=24 10 .1/' p) | grep -aq '^sizes: 10 24$'
	sed 's/^radon_gather:=24 100 0 */radon_gather:=24 99 .001/' p >q
	fails 1 'lies between the samples of a gather from 0.001 s on' radon --model q
	fails 1 'hyperbole is no curve' radon --model <(sed 's/^radon_curve:=parabolic/radon_curve:=hyperbole/' p)
	fails 2 'the farthest offset is -X 3000' radon --model <(sed 's/^radon_curve:=/radon_curvy:=/' p)
}

@test "radon: results leave an open pipe while its writer pauses" {
	local t
	gathers 20 >one
	for t in 1 2; do
		radon -t $t $curves --quiet <one >want
		one_by_one one want radon -t $t $curves --quiet
	done
}

@test "radon: a hyperbola becomes a point, and the point a hyperbola" {
	# Four traces of 200 samples of 4 ms, with a spike on the hyperbola of tau .24 s and q .0324 s^2: at .24, .3, .24 and .3 s.
	# shellcheck disable=SC2046 # words
	item float '200 4' 'spacings: .004 nan' -- $(awk 'BEGIN { for (i = 0; i < 800; i++) print i % 200 == (i / 200 % 2 < 1 ? 60 : 75) }') >v
	echo 0 30 0 30 >x
	radon -q 0:.0324:2 -X 30 --curve=hyperbolic --offsets=x <v >p
	grep -aq '^units: "s" "s^2"$' p
	samples p | sed -n 2p | tr ' ' '\n' | awk '$1 > 3.99 { print NR - 1 }' >places
	[ "$(cat places)" = 60 ]
	radon --model --offsets=x p | grep -aq '^sizes: 200 4$'
	radon -q 0:.0324:2 -X 30 --curve=hyperbolic --offsets=x --lsq=.001 <v | radon --model >y
	for j in 1 2 3 4; do
		samples y | sed -n ${j}p | tr ' ' '\n' | awk '$1 > .9 { print NR - 1 }'
	done | paste -sd ' ' >places
	[ "$(cat places)" = "60 75 60 75" ]
}

# plane N: the N-trace gather of 100 samples, whose traces lie on a spiral in a plane.
plane() {
	gathers "$1" | sed "s/^offsets:=.*/offset-x:=$(seq 1 "$1" | awk '{ print int(120 * $1 * cos($1)) }' | paste -sd ' ')\n$(
		)offset-y:=$(seq 1 "$1" | awk '{ print int(120 * $1 * sin($1)) }' | paste -sd ' ')/"
}

@test "radon: a panel of two axes, and the gather that it models; both turn with their azimuth" {
	plane 24 >d
	radon $axes --azimuth=30 --sparse d >p
	grep -aq '^sizes: [0-9]* 11 9$' p
	says 'labels: "tau" "qx" "qy"' radon_azimuth:=30 <p
	radon --model p >m
	radon $axes --azimuth=30 --subtract d >s
	for key in sizes labels offset-x offset-y; do diff <(grep -a "^$key" d) <(grep -a "^$key" m); done
	run -1 grep -aq -e radon_ -e '^offsets' m
	adds_up d m s 1e-4
	for t in 1 3; do radon $axes --azimuth=30 --sparse -t $t d >p$t; done
	cmp <(samples p1) <(samples p3)
	plane 24 >d
	radon -q -0.1:0.2:11 --qy=-0.1:0.2:11 -X 3000 --quiet d >p
	radon -q -0.1:0.2:11 --qy=-0.1:0.2:11 --azimuth=90 -X 3000 --quiet d >turned
	# The second curve along qx of one is the second along qy of the other.
	paste <(samples p | tail -n +12 | head -1 | tr ' ' '\n') <(samples turned | tail -n +2 | head -1 | tr ' ' '\n') |
		awk '{ e = $1 - $2; if (e < -1e-4 || e > 1e-4) exit 1 }'
}

@test "radon: --offsets of a plane are pairs, other traces can be modelled, and without --qy the offset is the distance" {
	plane 24 >d
	sed -n 's/^offset-x:=//p;/^$/q' d | tr ' ' '\n' >x
	sed -n 's/^offset-y:=//p;/^$/q' d | tr ' ' '\n' >y
	paste x y >xy
	sed 's/^offset-[xy]:=.*/offsets:=1 2/' d >bare
	radon $axes --sparse d >p
	radon $axes --sparse --offsets=xy bare >q
	grep -aq "^offset-y:=$(paste -sd ' ' <y)\$" q
	run -1 grep -aq '^offsets' q
	cmp <(samples p) <(samples q)
	head -5 xy >five
	radon --model --offsets=five p >m
	grep -aq "^offset-x:=$(head -5 x | paste -sd ' ')\$" m
	radon --model p >all
	cmp <(samples m) <(samples all | head -5)
	fails 1 '5 numbers are not pairs' radon --model --offsets=<(echo 1 2 3 4 5) p
	fails 1 '10 numbers: neither 48, the pairs of a gather' radon $axes --offsets=five d
	plane 24 >d
	paste <(sed -n 's/^offset-x:=//p;/^$/q' d | tr ' ' '\n') <(sed -n 's/^offset-y:=//p;/^$/q' d | tr ' ' '\n') |
		awk '{ printf "%.17g\n", sqrt($1 ^ 2 + $2 ^ 2) }' >o
	radon $curves --quiet d >p
	radon $curves --quiet --offsets=o d >q
	near p q 1e-4
	grep -aq '^offsets:=' p
}

@test "radon: gathers of a plane as planes of one item" {
	plane 12 | volume '100 4 3' >d
	radon $axes d >p
	grep -aq '^sizes: [0-9]* 11 9 3$' p
	radon --model p >m
	grep -aq '^sizes: 100 4 3$' m
	for i in 0 1 2; do
		radon $axes --part=$i/3 d >p$i
		radon --model --part=$i/3 p >m$i
	done
	rawjoin p0 p1 p2 | cmp - p
	rawjoin m0 m1 m2 | cmp - m
}

@test "radon: two axes that go with nothing else are refused" {
	fails 1 'no offsets in a plane' radon $axes <(gathers 24)
	plane 24 | sed 's/^offset-y:=[^ ]* /offset-y:=/' >e
	fails 1 '24 numbers in offset-x:=, and 23 in offset-y:=' radon $axes e
	plane 24 | radon $axes >p
	fails 1 'go with auto, nufft and recurrence' radon --model --method=time p
	fails 1 'radon_azimuth:=x is no angle' radon --model <(sed 's/^radon_azimuth:=0/radon_azimuth:=x/' p)
	sed 's/^radon_curve:=parabolic/radon_curve:=hyperbolic/' p >q
	fails 1 'hyperbolic curves have no second axis' radon --model q
}

@test "radon: a large gather gives the same bytes from a file, which is mapped, and from a pipe" {
	curves='-q -.1:.1:5 -X 3000 --quiet'
	gen --type=float noise 1003 300 | sed '/^endian/i spacings: 0.004 10\naxis mins: 0 10\ncenters: node node' >a
	cat a a a >x
	for t in 1 3; do
		for mode in '' '--lsq --subtract --fmax=10'; do
			radon $curves $mode -t $t x | grep -av '^history' >want
			cat x | radon $curves $mode -t $t | grep -av '^history' | cmp - want
		done
	done
}

@test "radon: a file that shrinks while it is read ends the program with a message" {
	gen --type=float noise 1003 300 | sed '/^endian/i spacings: 0.004 10\naxis mins: 0 10\ncenters: node node' >a
	cat a a >x
	shrinks x 1500000 radon -q -.1:.1:1200 -X 3000 --quiet -t 1 x
	grep -q '^radon: x: item 2: the payload ends after' stderr
}
