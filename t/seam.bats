load lib

# Shares of one picture that morphrec reconstructs one by one: --seam=DIR --part=I/N.

# whole OPTION... FILE: the shares' pictures in seam/, joined, are the bytes of a run without shares.
whole() {
	morphrec --quiet "$@" >want
	rawjoin seam/part.* | cmp - want
}

# shares N OPTION... FILE: N shares to their end, two at a time.
shares() {
	local n=$1
	shift
	rm -rf seam
	"$root/t/demo/cluster/morphrec.sh" "$n" 2 seam -t 1 --quiet "$@"
	whole -t 1 "$@"
}

# volume SIZE < bytes: an item of three axes.
volume() {
	printf 'NRRD0005\ntype: uchar\ndimension: 3\nsizes: %s\nencoding: raw\n\n' "$1"
	cat
}

@test "a share says which share beside it must run again" {
	pgm 1 6 9 9 9 9 9 9 9 >mask.pgm
	pgm 1 6 9 9 0 0 0 0 0 >marker.pgm
	share() { morphrec --seam=d --part="$1/3" -m mask.pgm marker.pgm; }
	[ "$(share 1)" = "rose 0 2" ] # neither has a border yet
	[ "$(share 2)" = "still" ]
	[ "$(share 0)" = "rose 1" ] # its 9 is above the border of share 1
	[ "$(share 0)" = "rose 1" ] # and still is
	[ "$(share 1)" = "rose 2" ]
	[ "$(share 2)" = "still" ]
	[ "$(share 0)" = "still" ]
	[ "$(share 1)" = "still" ]
	for i in 0 1 2; do
		morphrec --seam=d --part=$i/3 -o $i -m mask.pgm marker.pgm >line
		[ "$(cat line)" = still ]
		tail -c 2 $i
	done | od -An -tu1 | xargs >got
	same got "9 9 9 9 9 9"
}

@test "a share's picture carries its place, and a history without --seam and --part" {
	gen noise 30 20 >f.pgm
	morphrec --seam=d --part=1/2 --hmax=9 -o out f.pgm >line
	says 'sizes: 30 10' 'history:=morphrec --hmax=9' 'place:=0/1 0/1 pnm 1:10/20' <out
	grep -aq '^part:=1/2 [0-9a-f]\{16\}$' out
}

@test "shares of a picture are the whole: operators, corridors, noise, types" {
	gen smooth 60 50 3 >smooth.pgm
	gen noise 60 50 --type=float >float.nrrd
	gen noise 48 64 >noise.pgm
	gen seeds 48 64 5 >seeds.pgm
	gen noise 48 64 --type=float >marker.nrrd
	gen spiral 31 31 >spiral.pgm
	gen serpentine 31 31 >serpentine.pgm
	printf 'P5\n31 31\n255\n\377' | cat - <(head -c 960 /dev/zero) >corner.pgm
	pgm 2 4 9 0 0 0 0 0 0 0 0 >constant.pgm
	pgm 2 4 9 1 0 0 0 0 0 0 0 >one.pgm
	pgm 2 3 1000 1000 1000 1000 1000 700 1000 >above.pgm
	pgm 2 3 1000 1 900 3 4 5 999 >wide.pgm
	for o in --hmax=9 --hmin=9 --hdome=9 --fill-holes --clear-border --regmax --regmin --open=2 --close=2 \
		'--tophat=3 --shape=disk' --hysteresis=99,200; do
		shares 4 $o -c 4 smooth.pgm
	done
	for o in --hmax=.1 --fill-holes --clear-border --regmax --open=2 --hysteresis=.4,.8; do
		shares 3 $o float.nrrd
	done
	while read -r options; do
		shares $options
	done <<-END
		2 --regmax constant.pgm
		2 --regmax one.pgm
		4 -c 4 -m noise.pgm seeds.pgm
		16 -c 4 -m noise.pgm seeds.pgm
		4 -c 4 -m spiral.pgm corner.pgm
		16 -c 4 -m serpentine.pgm corner.pgm
		16 --fill-holes noise.pgm
		3 -m noise.pgm marker.nrrd
		2 -e -m wide.pgm above.pgm
		3 --hmax=100 wide.pgm
	END
}

@test "shares of a volume are the whole, slices on both sides" {
	gen noise 90 200 | tail -c 18000 | volume '30 20 30' >noise.nrrd
	gen smooth 90 200 3 | tail -c 18000 | volume '30 20 30' >smooth.nrrd
	gen seeds 90 200 9 | tail -c 18000 | volume '30 20 30' >seeds.nrrd
	for c in 6 18 26; do
		shares 4 --hmax=20 -c $c smooth.nrrd
		shares 4 --fill-holes -c $c noise.nrrd
		shares 16 -m noise.nrrd -c $c seeds.nrrd
		shares 4 --clear-border -c $c smooth.nrrd
		shares 4 --open=2 -c $c smooth.nrrd
	done
}

@test "more shares than rows: some have none" {
	pgm 2 3 9 9 1 5 2 3 9 >f.pgm
	shares 7 --hmax=3 f.pgm
	[ "$(morphrec --seam=d --part=0/7 --hmax=3 -o none f.pgm)" = still ]
	grep -aqx 'place:=0/1 0/1 empty' none
	[ ! -e d ]
}

# Each system call of a share's run, from before it opens DIR on, is its last one.
@test "a share that is killed anywhere and run again gives the same bytes" {
	killat 1 true || [ $? -eq 137 ] || skip "processes cannot be traced here"
	! sanitized || skip "the sanitizer makes calls of its own"
	gen seeds 20 16 3 >marker.pgm
	gen noise 20 16 >mask.pgm
	run_all() {
		local due="0 1 2" next i
		while [ -n "$due" ]; do
			next=
			for i in $due; do
				next+=$(morphrec -t 1 --seam=seam --part="$i/3" -m mask.pgm marker.pgm | sed -n 's/^rose//p')
			done
			due=$(tr ' ' '\n' <<<"$next" | sort -nu | xargs)
		done
		for i in 0 1 2; do morphrec -t 1 --seam=seam --part="$i/3" -o seam/part.$i -m mask.pgm marker.pgm >line; done
	}
	local killed=0 status
	for ((n = 40; n < 400; n += 7)); do
		rm -rf seam
		morphrec -t 1 --seam=seam --part=0/3 -m mask.pgm marker.pgm >line
		((n % 2)) || morphrec -t 1 --seam=seam --part=1/3 -m mask.pgm marker.pgm >line
		status=0
		killat $n morphrec -t 1 --seam=seam --part=1/3 -m mask.pgm marker.pgm >line || status=$?
		[ $status -eq 137 ] || break
		killed=$((killed + 1))
		morphrec -t 1 --seam=seam --part=2/3 -m mask.pgm marker.pgm >line
		run_all
		whole -t 1 -m mask.pgm marker.pgm
	done
	[ $killed -gt 6 ]
}

@test "files of another run are refused by name; so is a share that runs already" {
	gen noise 20 16 >f.pgm
	morphrec --seam=d --part=0/2 --hmax=9 f.pgm >line
	fails 1 'd/state.0 is of another run' morphrec --seam=d --part=0/2 --hmax=8 f.pgm
	fails 1 'd/border.0 is of another run' morphrec --seam=d --part=1/3 --hmax=9 f.pgm
	gen noise 20 16 --seed=2 >g.pgm
	cmp -s f.pgm g.pgm || fails 1 'd/state.0 is of another run' morphrec --seam=d --part=0/2 --hmax=9 g.pgm
	flock d/state.0 true || skip "no flock(1)"
	fails 1 'd/state.0: another process runs this share' flock d/state.0 morphrec --seam=d --part=0/2 --hmax=9 f.pgm
	rm d/state.1
	: >d/border.0
	fails 1 'd/border.0: it is too short' morphrec --seam=d --part=1/2 --hmax=9 f.pgm
	echo text >d/state.1
	fails 1 'd/state.1 is no state of a share' morphrec --seam=d --part=1/2 --hmax=9 f.pgm
}

@test "a state that was cut short is refused, or made again where its head is not whole" {
	gen serpentine 40 32 >f.pgm
	rounds() { for i in 0 1 2 0 1 2 0 1 2 0 1 2; do morphrec -t 1 --seam=d --part=$i/3 -o p.$i --fill-holes f.pgm >line; done; }
	morphrec --fill-holes f.pgm >want
	rounds
	rawjoin p.? | cmp - want
	cp d/state.1 whole.state
	for size in $(($(wc -c <whole.state) - 1)) 4096 200; do
		truncate -s $size d/state.1
		fails 1 'd/state.1: it is too short: remove it' morphrec --seam=d --part=1/3 --fill-holes f.pgm
		cp whole.state d/state.1
	done
	for size in 60 0; do
		truncate -s $size d/state.1
		rounds
		rawjoin p.? | cmp - want
	done
}

@test "places in messages are those of the whole" {
	gen --type=float values 2x4 1 1 1 1 1 1 1 nan >f.nrrd
	fails 1 '1 samples are NaN, the first at x 1, y 3, slice 0' morphrec --seam=d --part=1/2 --hmax=1 f.nrrd
}

@test "what --seam does not go with" {
	gen noise 20 16 >f.pgm
	cat f.pgm f.pgm >two.pgm
	gen noise 20 16 | tail -c 320 | volume '20 4 4' >v.nrrd
	all_fail morphrec --seam=d <<-END
		2|--seam needs --part|--hmax=9 f.pgm
		2|--seam: not with|--part=0/2 --area=9 f.pgm
		2|--seam: not with|--part=0/2 --max-mem=1M --hmax=9 f.pgm
		2|only with the method tile|--part=0/2 --method=heap --hmax=9 f.pgm
		2|standard output takes a line|--part=0/2 -o - --hmax=9 f.pgm
		2|--part|--part=2/2 --hmax=9 f.pgm
		1|more than one item|--part=0/2 --hmax=9 two.pgm
		1|takes a grey picture or a volume|--part=0/2 --hmax=9 v.nrrd
	END
	fails 1 '--part needs a regular file' morphrec --seam=d --part=0/2 --hmax=9 - < <(cat f.pgm)
	fails 1 'd/none: No such file' morphrec --seam=d/none --part=0/2 --hmax=9 f.pgm
}
