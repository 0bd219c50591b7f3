# Streams of items with -g: item k + 1 is read and item k - 1 is written while item k is computed. The programs are those of
# t/cudacpu, whose kernels run on the CPU.
load lib

# Seven pictures in colours (c), of seven sizes, and seven in grey (g).
prepare() {
	gpu=$B/t/cudacpu
	for i in 1 2 3 4 5 6 7; do
		{ printf 'P6\n%d 9\n255\n' $((10 * i)) && gen --type=uchar noise $((30 * i)) 9 | tail -c $((270 * i)); } >c$i
		gen --type=uchar smooth $((60 + 10 * (i % 4))) 60 "$i" >g$i
	done
}

# Points of two axes, and seven items each of values at them (v), of modes (m) and of points with values (r).
scattered() {
	local i n values
	item double '2 60' 'kinds: list domain' 'columns:=x y' -- $(seq -0.49 .008 .463) >points
	for i in 1 2 3 4 5 6 7; do
		item "$([ $((i % 3)) -eq 0 ] && echo double || echo float)" '2 60' 'kinds: complex domain' -- $(seq "$i" $((i + 119))) >v$i
		item float "2 $((3 + i)) 5" 'kinds: complex domain domain' -- $(seq $((10 * (3 + i)))) >m$i
		n=$((20 * i))
		mapfile -t values < <(seq -f %.5f -0.49 .002 9 | head -n $((4 * n)))
		item float "4 $n" 'kinds: list domain' 'columns:=x y re im' -- "${values[@]}" >r$i
	done
}

# as_one NAME COMMAND...: streams of 1, 2, 3 and 7 files NAME1, NAME2, ... give what the files give one by one.
as_one() {
	local name=$1 n i
	shift
	for n in 1 2 3 7; do
		for ((i = 1; i <= n; i++)); do "$@" "$name$i"; done >want
		for ((i = 1; i <= n; i++)); do cat "$name$i"; done | "$@" | cmp - want
		[ -s want ]
	done
}

@test "--gpu=auto: the CPU computes until the device is open, and a program ends without it; the bytes are the same" {
	mkfifo gate
	while read -r name command; do
		$command $name? >want
		CUDACPU_GATE=$PWD/gate $gpu/$command --gpu=auto --stats=s.json $name? | cmp - want
		grep -q '"device": "cpu"' s.json
		$gpu/$command --gpu=auto $name? | cmp - want
		$command --gpu=auto $name? | cmp - want
	done <<-END
		g morphrec --hdome=20
		c emst --to=labels -k 3
		g dptrace -p 5,5 -p 50,50 -n 3
	END
	fails 2 'auto is for programs whose bytes are the same' wconv --gpu=auto -k g1 g2
}

@test "emst -g of a stream of pictures gives what the CPU gives" {
	for n in 1 2 3 7; do
		for how in --to=tree '--to=labels -k 3'; do
			emst $how $(seq -f c%g $n) >want
			$gpu/emst -g $how $(seq -f c%g $n) | cmp - want
		done
	done
	emst --to=labels -k 3 --palette-to=colours c? >want
	mv colours want.colours
	$gpu/emst -g --to=labels -k 3 --palette-to=colours c? | cmp - want
	cmp colours want.colours
	emst --method=brute --to=text c? >want
	$gpu/emst -g --method=brute --to=text --stats=s.json c? | cmp - want
	grep -q '"items": 7, ' s.json
}

@test "dptrace -g of a stream of pictures gives what the CPU gives" {
	for n in 1 2 3 7; do
		for o in -n4 '--score=edge --to=csv' --overlay; do
			dptrace --quiet -p 5,20 -p 50,30 ${o/overlay/overlay=want.over} $(seq -f g%g $n) >want
			$gpu/dptrace -g --quiet -p 5,20 -p 50,30 ${o/overlay/overlay=got.over} $(seq -f g%g $n) | cmp - want
		done
		cmp want.over got.over
	done
}

@test "usfft -g of a stream gives what its items give one by one" {
	scattered
	as_one v "$gpu/usfft" -g -T 1 -n 6,5 --points=points
	as_one v "$gpu/usfft" -g -T 1 -n 6,5 --points=points --weights=pipe
	as_one r "$gpu/usfft" -g -T 1 -n 6,5
	as_one m "$gpu/usfft" -g -T 2 --points=points
	as_one r "$gpu/usfft" -g -T 3 --targets=points
	as_one v "$gpu/usfft" -g -T 2 --inverse -n 4,3 --points=points --iter=2 --quiet
	cat v? | $gpu/usfft -g -T 1 -n 6,5 --points=points --weights=pipe --weights-to=w >/dev/null
	[ "$(rawinfo w | wc -l)" -eq "$(rawinfo points | wc -l)" ]
}

@test "morphrec -g and wconv -g of a stream give what the CPU gives, and radon -g what its items give one by one" {
	local n
	gen kernels 5 2 2 >k.nrrd
	for i in 1 2 3 4 5 6 7; do gencmp --traces=$((10 + i % 3)) --samples=64 >s$i; done
	for n in 1 2 3 7; do
		for c in 'morphrec --hdome=20' 'morphrec --fill-holes' 'wconv -k k.nrrd --type=input' \
			'wconv --method=fft -k k.nrrd --type=input'; do
			$c $(seq -f g%g $n) >want
			"$gpu"/$c -g $(seq -f g%g $n) | cmp - want
		done
	done
	# Frames of one size overlap. Another size needs another plan, and a stack takes several steps.
	for i in 1 2 3 4 5 6; do gen smooth 90 70 $((20 + i)) >h$i; done
	rawstack h1 h4 h2 >stack
	for c in 'wconv -k k.nrrd' 'wconv --method=fft -k k.nrrd'; do
		for i in h1 h2 h3 g3 h4 stack h5 h6; do "$gpu"/$c -g $i; done >want
		"$gpu"/$c -g h1 h2 h3 g3 h4 stack h5 h6 | cmp - want
		cat h1 h2 h3 g3 h4 stack h5 h6 | "$gpu"/$c -g | cmp - want
	done
	as_one s "$gpu/radon" -g --quiet -q -.1:.1:9 -X 1000
	as_one s "$gpu/radon" -g --quiet -q -.1:.1:9 -X 1000 --lsq
}

@test "shares of a stream with -g, and markers of several types under one mask, are those of the CPU" {
	local i types=(float double)
	scattered
	gen --type=uchar smooth 200 300 1 >mask
	for i in 1 2 3 4 5 6 7; do gen --type="${types[i % 2]}" smooth 200 300 $((10 + i)) >k$i; done
	$gpu/morphrec -g -m mask k? | cmp - <(morphrec -m mask k?)
	for i in 0 1; do
		morphrec --hdome=20 --part=$i/2 g? >want
		$gpu/morphrec -g --hdome=20 --part=$i/2 g? | cmp - want
		morphrec -m mask --part=$i/2 k? >want
		$gpu/morphrec -g -m mask --part=$i/2 k? | cmp - want
		$gpu/usfft -g -T 1 -n 6,5 --points=points --part=$i/2 v? >share$i
	done
	$gpu/usfft -g -T 1 -n 6,5 --points=points v? | cmp - <(rawjoin share0 share1)
}

# fails_behind TEXT COMMAND...: the command fails with TEXT in its one line, and has written `want` before.
fails_behind() {
	fails_later 1 "$@" && cmp stdout want
}

@test "an item that fails with -g is named, and the items before it are written" {
	emst c1 c2 >want
	for end in 'P6\n4 4\n255\nxx' 'P9\n'; do
		(cat c1 c2 && printf "$end") >bad
		fails_behind 'emst: bad: item 3: ' $gpu/emst -g bad
	done
	morphrec --hdome=20 g1 g2 >want
	(cat g1 g2 && printf 'P5\n4 4\n255\nxx') >bad
	fails_behind 'morphrec: bad: item 3: the payload ends after 2 of 16 bytes' $gpu/morphrec -g --hdome=20 bad
	dptrace --quiet -p 5,20 -p 65,30 g1 g2 g3 >want
	fails_behind 'dptrace: g4: line 0: point 65,30 lies outside the image of 60 x 60' \
		$gpu/dptrace -g --quiet -p 5,20 -p 65,30 g1 g2 g3 g4 g5
	scattered
	item float '2 60' 'kinds: complex domain' -- nan $(seq 119) >bad
	$gpu/usfft -g -T 1 -n 6,5 v1 --points=points >want
	fails_behind 'usfft: bad: point 0 has a coordinate or value that is NaN or infinite' \
		$gpu/usfft -g -T 1 -n 6,5 --points=points v1 bad v2 v3
	for i in 1 2 3; do gen --type=float smooth 70 60 $i >f$i; done
	item float '70 60' 'kinds: domain domain' -- 3e38 $(seq 4199) >bad
	gen kernels 5 2 2 >k.nrrd
	$gpu/wconv -g -k k.nrrd f1 f2 >want
	fails_behind 'wconv: bad: ' $gpu/wconv -g -k k.nrrd f1 f2 bad f3
	gencmp --traces=8 --samples=40 >gather
	for i in {1..35}; do cat gather; done >many
	$gpu/radon -g --quiet -q -.1:.1:9 -X 1000 many >want
	echo rubbish >>many
	fails_behind 'radon: many: item 36: ' $gpu/radon -g --quiet -q -.1:.1:9 -X 1000 many
	# Found while it is computed, when the next item may have been read.
	item float '4 2' 'kinds: list domain' 'columns:=x y re im' -- .1 .2 1 0 .1 nan 1 0 >bad
	$gpu/usfft -g -T 1 -n 6,5 r1 r2 >want
	fails_behind 'usfft: bad: point 1 has a coordinate or value that is NaN or infinite' $gpu/usfft -g -T 1 -n 6,5 r1 r2 bad r3 r4 r5
	cat r1 r2 bad r3 >stream
	fails_behind 'usfft: stream: item 3: point 1 ' $gpu/usfft -g -T 1 -n 6,5 stream
}

# The reader finds the end of the payload while the device works. t/cudacpu ends a process with another message that calls exit()
# before its device is closed.
@test "a reader that fails with -g says so in one line, and leaves the device as it is" {
	gen --type=float smooth 500 600 9 >f
	gen kernels 9 2 2 >k.nrrd
	for i in 1 2 3; do gencmp --traces=20 --samples=200; done >s
	head -c -100 f >f.cut
	head -c -100 s >s.cut
	for n in 1 2 3 4; do
		for c in 'wconv -k k.nrrd' 'wconv --method=fft -k k.nrrd'; do
			fails_later 1 'wconv: (stdin): item 2: the payload ends after 1199900 of 1200000 bytes' bash -c "cat f f.cut | $gpu/$c -g >got"
		done
		fails_later 1 'radon: (stdin): item 3: the payload ends after 15900 of 16000 bytes' $gpu/radon -g --quiet -t 3 -q -.1:.1:99 -X 1000 <s.cut
		fails_later 1 'wconv: ' bash -c "cat f f.cut | $gpu/wconv -k k.nrrd -g >/dev/full"
	done
	$gpu/wconv --method=fft -k k.nrrd -g <f >want
	cmp -n "$(stat -c %s want)" want got
}

@test "an output that takes no more ends a stream with -g" {
	fails_later 1 'emst: (stdout): No space left on device' bash -c "$gpu/emst -g c? >/dev/full"
	# more bytes than any pipe holds
	run bash -c "$gpu/emst -g \$(for _ in {1..24}; do echo c?; done) | head -c 10 | wc -c; exit \${PIPESTATUS[0]}"
	[ "$status" -eq 141 ]
}

@test "a result with -g does not wait for the next item" {
	for i in c1 c2; do
		emst $i >want
		one_by_one $i want $gpu/emst -g
	done
}
