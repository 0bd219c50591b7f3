load lib

# The shares of --part=I/N, joined by rawjoin(1), are the bytes of the run without it.

# shares N COMMAND...: runs the N shares of the command, into the files share.0 and so on.
shares() {
	local n=$1 i
	shift
	rm -f share.*
	for ((i = 0; i < n; i++)); do "$@" --part="$i/$n" >"share.$i"; done
}

# whole COMMAND...: the command as a whole gives the bytes of its shares, for 1, 2, 7 and 64 shares.
whole() {
	local n
	"$@" >whole
	for n in ${NS:-1 2 7 64}; do
		shares "$n" "$@"
		rawjoin share.* >joined
		cmp joined whole || { echo "$* in $n shares" && return 1; }
	done
}

# Four shares of a convolution of f.raw in share.0 to share.3; what all tests of bad files begin with.
prepare() {
	gen noise 20 200 --type=float >f.raw
	gen kernels 5 1 1 >k.raw
	shares 4 wconv -k k.raw f.raw
}

@test "wconv: rows of every type, by direct sums and by transforms" {
	gen kernels 9 2 3 >k.raw
	gen noise 60 300 >u8.pgm
	gen noise --type=ushort --maxval 1000 60 300 >u16.pgm
	gen noise --type=int 60 300 >i32.raw
	gen noise --type=float 60 300 >f32.raw
	gen noise --type=double 60 300 >f64.raw
	whole wconv -k k.raw u8.pgm
	whole wconv -k k.raw --type=input u8.pgm
	NS=7 whole wconv -k k.raw --type=input --raw u8.pgm
	NS=7 whole wconv -k k.raw --type=input u16.pgm
	NS=7 whole wconv -k k.raw --method=fft i32.raw
	whole wconv -k k.raw --method=fft f32.raw
	NS=7 whole wconv -k k.raw --method=fft --double f64.raw
	NS=7 whole wconv -k k.raw --method=direct -t 3 f64.raw
}

@test "wconv: every edge but wrap" {
	gen kernels 33 1 1 >k.raw
	gen noise 40 200 --type=float >f.raw
	for edge in zero reflect mirror nearest renormalise; do
		NS=7 whole wconv -k k.raw --edge=$edge --method=direct f.raw
		NS=3 whole wconv -k k.raw --edge=$edge --method=fft f.raw
	done
	NS=7 whole wconv -k k.raw --edge=mirror --correlate f.raw
	NS=7 whole wconv --gaussian=2 f.raw
	NS=7 whole wconv -k k.raw --variance --edge=renormalise f.raw
	fails 2 "--edge=wrap" wconv -k k.raw --edge=wrap --part=0/2 f.raw
}

@test "wconv: polynomial kernels, and pixels that are not finite" {
	gen noise 40 300 --type=float >f.raw
	gen kernels 5 3 1 >planes.raw
	NS=7 whole wconv -k planes.raw --basis=poly:1 --normalise f.raw
	rawmath 'x < .1 ? 0/0 : x' f.raw >holes.raw
	gen kernels 9 2 2 >k.raw
	for nan in propagate interpolate zero; do
		NS=7 whole wconv -k k.raw --nan=$nan --method=direct holes.raw
		NS=7 whole wconv -k k.raw --nan=$nan --method=fft holes.raw
	done
}

@test "wconv: stacks, streams of items, files one after the other, and a part of a picture" {
	gen kernels 5 2 2 >k.raw
	gen noise 30 70 --type=float >a.raw
	gen noise 40 100 >b.pgm
	cat a.raw b.pgm a.raw >many
	whole wconv -k k.raw many b.pgm
	item float "20 50 6" -- $(seq 6000) >stack.raw
	whole wconv -k k.raw stack.raw
	rawtonpy stack.raw >stack.npy
	NS=7 whole wconv -k k.raw stack.npy
	wconv -k k.raw --part=1/3 <a.raw | cmp - <(wconv -k k.raw --part=1/3 a.raw)
	gen noise 60 300 --type=float | rawtile --rows=0,90,200 --margin=10 --only=1 >part.raw
	whole wconv -k k.raw part.raw
}

@test "a share says where its rows lie, and positions come back exactly" {
	item float "3 80" 'spacings: 1 0.1' 'axis mins: 0 0.7' -- $(seq 240) >f.raw
	gen kernels 3 1 1 >k.raw
	shares 2 wconv -k k.raw f.raw
	[ "$(rawinfo share.1 | grep -c '^tile:=0 40 3 80$')" = 1 ]
	rawinfo share.1 | grep -q '^place:=0/1 0/1 1:40/80@0.69'
	wconv -k k.raw f.raw | cmp - <(rawjoin share.0 share.1)
}

@test "an empty share is one pixel, which filters pass on and rawjoin leaves out" {
	shares 30 wconv -k k.raw f.raw
	rawinfo share.0 | grep -q '^sizes: 1 1$'
	for share in share.*; do
		rawmath 'x * 2' "$share" >twice
		mv twice "$share"
	done
	wconv -k k.raw f.raw | rawmath 'x * 2' | cmp - <(rawjoin share.*)
}

@test "rawjoin writes PNM where the whole is PNM" {
	gen noise 20 70 >a.pgm
	gen kernels 3 1 1 >k.raw
	cat a.pgm a.pgm >two.pgm
	whole wconv -k k.raw --type=input two.pgm
	head -c 2 joined | grep -q P5
	rawjoin --raw share.* | head -c 4 | grep -q NRRD
}

@test "a share of another input, of other options or of another N is refused by name" {
	gen noise 20 200 --type=float -s 2 >g.raw
	wconv -k k.raw g.raw --part=1/4 >picture
	wconv -k k.raw f.raw --edge=mirror --part=1/4 >options
	wconv -k k.raw f.raw --part=1/5 >number
	gen kernels 5 1 1 | rawmath 'x * 2' >k.raw
	wconv -k k.raw f.raw --part=1/4 >kernel
	for other in picture options kernel; do
		fails 1 "rawjoin: $other: its fingerprint is" rawjoin share.0 "$other" share.2 share.3
		grep -q 'that of share.0' stderr
	done
	fails 1 "number: it is share 1/5, but share.0 is share 0/4" rawjoin share.0 number share.2 share.3
	fails 1 "f.raw: this is no share of --part" rawjoin share.0 f.raw share.2 share.3
	fails 1 "two.pgm: this is no share" eval 'printf "P5 1 1 255 x" >two.pgm; rawjoin share.0 two.pgm'
	# One that was processed otherwise than the others.
	rawmath 'x * 2' share.2 >other
	fails 1 "other: item 1: the header differs" sh -c 'rawjoin share.0 share.1 other share.3 >/dev/null'
}

@test "missing, doubled, empty and truncated shares are refused by name" {
	fails 1 "share 2/4 is missing" rawjoin share.0 share.1 share.3
	fails 1 "share 3/4 is missing" rawjoin share.2 share.1 share.0
	cp share.1 twin
	fails 1 "share.1: it is share 1/4, and so is twin" rawjoin share.0 twin share.1 share.2 share.3
	: >empty
	fails 1 "empty: the file is empty" rawjoin share.0 empty share.2 share.3
	head -c 300 share.1 >short
	fails 1 "short: the payload ends after" rawjoin share.0 short share.2 share.3
	head -c 50 share.1 >stump
	fails 1 "stump: the file ends inside the header" rawjoin share.0 stump share.2 share.3
	cat share.0 share.1 >both
	fails 1 "both: the file holds items of several shares" rawjoin both share.2 share.3
}

@test "a share that ends between two of its items is short" {
	gen kernels 3 1 1 >k.raw
	item float "4 30 5" -- $(seq 600) >stack.raw
	cat stack.raw stack.raw >two.raw
	shares 3 wconv -k k.raw two.raw
	skip=$(rawinfo --skip share.1 | head -n 1)
	bytes=$(($(sed -n 's/^sizes: 4 30 //p;/^$/q' share.1) * 4 * 30 * 4))
	head -c $((skip + bytes)) share.1 >short
	fails 1 "short: the file ends after 1 of the 2 pieces of share 1/3" rawjoin share.0 short share.2
	[ "$(rawjoin --missing share.0 short share.2 2>/dev/null)" = 1 ]
	cat share.0 short share.2 >torn
	fails 1 'ends after 1 of its 2 pieces' sh -c 'rawjoin <torn >/dev/null'
}

@test "shares come through a pipe in their order, and in one file" {
	wconv -k k.raw f.raw >whole
	cat share.0 share.1 share.2 share.3 | rawjoin | cmp - whole
	cat share.? >all
	rawjoin all | cmp - whole
	cat share.0 share.2 share.1 share.3 >disorder
	fails 1 'share 2/4 comes where share 1 is due' sh -c 'rawjoin <disorder >/dev/null'
	fails 1 'it has no key part:=' sh -c 'cat share.0 f.raw | rawjoin >/dev/null'
	fails 1 "it is a share of --part" sh -c 'gen noise 3 3 | cat - share.0 | rawjoin >/dev/null'
}

@test "--missing prints what is absent or short, as sbatch -a takes it" {
	[ -z "$(rawjoin --missing share.*)" ]
	rm share.1 share.2
	[ "$(rawjoin --missing share.*)" = 1-2 ]
	[ "$(rawjoin --missing=4 share.0 share.1 share.2 share.3)" = 1-2 ]
	[ "$(rawjoin --missing=7 none.*)" = 0-6 ]
	shares 4 wconv -k k.raw f.raw
	truncate -s 400 share.0
	: >share.3
	[ "$(rawjoin --missing share.* 2>stderr)" = 0,3 ]
	grep -q 'share.0: the payload ends after' stderr
	[ -z "$(rawjoin --missing --quiet share.* 2>&1 >/dev/null)" ]
	fails 1 "no file says how many shares" rawjoin --quiet --missing share.3
	fails 1 "--missing says 5 shares" rawjoin --missing=5 share.1
	fails 2 "names of the files" rawjoin --missing
	fails 2 "--missing: '0' is not a whole number in 1.." rawjoin --missing=0 share.0
}

@test "N and I are checked, and so is what cannot be shared out" {
	for part in 4/4 5/4 0/0 1/0 -1/4 1 1/4/2 x '' 1/3x '1 /3' '1/ 3' / 1/ /3 +1/3 0x1/3 1/1000001 1.0/2 \
		18446744073709551616/3 1/18446744073709551617 0000000000000000000000001/3; do
		fails 2 "--part: '$part' is not I/N" wconv -k k.raw --part="$part" f.raw
	done
	wconv -k k.raw --part=999999/1000000 f.raw | rawinfo | grep -x 'part:=999999/1000000 [0-9a-f]*'
	fails 1 "(stdin): --part needs a regular file" sh -c 'cat f.raw | wconv -k k.raw --part=0/2'
	fails 1 "this is a share itself" wconv -k k.raw --part=0/2 share.1
	fails 2 "--adjoint" wconv -k k.raw --part=0/2 --adjoint f.raw
	fails 2 "give --pnm to rawjoin" wconv -k k.raw --part=0/2 --pnm f.raw
	: >empty
	fails 1 "empty" wconv -k k.raw --part=0/2 empty
	head -c 5000 f.raw >short
	fails 1 "short: item 1: the payload ends after" wconv -k k.raw --part=0/2 short
}

@test "radon: gathers, with offsets in the file, in the key and along the axis" {
	gencmp --traces=12 --samples=60 --gathers=5 --step=50 >five.raw
	gencmp --traces=9 --samples=50 --step=80 >one.raw
	cat one.raw five.raw one.raw >many.raw
	whole radon -q -.1:.2:30 -X 1000 many.raw
	NS=3 whole radon --lsq=.1 -q -.1:.2:20 -X 1000 five.raw
	radon -q -.1:.2:30 -X 1000 five.raw >panels.raw
	NS=3 whole radon --model panels.raw
	{ item float '50 9 4' 'spacings: .004 nan nan' -- && for i in 1 2 3 4; do tail -c 1800 one.raw; done; } >four.raw
	seq 100 100 900 >nine
	seq 25 25 900 >each
	NS=3 whole radon -q -.1:.2:30 -X 1000 --offsets=nine four.raw
	NS=3 whole radon -q -.1:.2:30 -X 1000 --offsets=each four.raw
	radon -q -.1:.2:30 -X 1000 --offsets=each four.raw >panels.raw
	NS=3 whole radon --model --offsets=nine panels.raw
}

@test "usfft: the items of a batch" {
	item double "2 3" -- -.3 .1 .2 .4 .05 -.2 >points.raw
	for i in 1 2 3 4 5; do item double "2 3" 'kinds: complex domain' -- "$i" 2 3 4 5 $((6 * i)); done | cat points.raw - >all.raw
	whole usfft -T 1 -n 4,3 --batch all.raw
	tail -c +"$(($(wc -c <points.raw) + 1))" all.raw >values.raw
	NS=3 whole usfft -T 1 -n 4,3 -p points.raw --output=abs values.raw
}

@test "morphrec: the pictures of a stack, with a mask and without" {
	for i in 1 2 3 4 5; do gen noise -s $i 20 30; done | rawstack >stack.raw
	rawmath 'x > 40 ? x - 40 : 0' stack.raw | rawmath --type=uchar x >marker.raw
	gen noise 30 40 >a.pgm
	whole morphrec --hmax=30 stack.raw
	NS=3 whole morphrec --hmax=30 -c 26 stack.raw
	NS=7 whole morphrec --fill-holes a.pgm stack.raw a.pgm
	whole morphrec -m stack.raw marker.raw
	cat marker.raw marker.raw >two.raw
	NS=3 whole morphrec -m stack.raw two.raw
}
