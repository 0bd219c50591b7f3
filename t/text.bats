load lib

# What programs say: one cause a message, names that cannot forge one, spellings that are accepted.

@test "an option that is not there is answered by the nearest; ambiguous ones, and arguments of none, are told apart" {
	fails 2 "option '--nromalise' is unknown; is it --normalise?" wconv --nromalise
	fails 2 "option '--zzzzzzz' is unknown; see rawinfo --help" rawinfo --zzzzzzz
	fails 2 "option '-Z' is unknown" rawinfo -Z
	fails 2 "option '--start' is unknown; see rawaxes --help" rawaxes --start
	fails 2 "option '-colors' is unknown; is it --colours?" rawpalette -colors 8
	fails 2 "option '-blur' is unknown; is it --gaussian?" wconv -blur 3
	fails 2 "option '-resize' is unknown: pamscale" rawaxes -resize 50%
	fails 2 "option '--ver' is ambiguous: --verbose or --version" rawinfo --ver
	fails 2 "option '--quiet' takes no argument" rawinfo --quiet=3
	fails 2 "option '--quiet' takes no argument" rawinfo --qui=3
}

@test "American spellings are accepted, and history says the page's" {
	gen kernels 3 1 1 >k.nrrd
	gen noise 16 12 | wconv -k k.nrrd --normalize >american
	gen noise 16 12 | wconv -k k.nrrd --normalise | cmp - american
	gen noise 16 12 | wconv -k k.nrrd --norm | cmp - <(gen noise 16 12 | wconv -k k.nrrd --normalise)
}

@test "a name with a newline or an escape stays on one line of a message" {
	fails 1 'a\nb\x1b[31m: No such file' rawinfo $'a\nb\e[31m'
	fails 1 "type 'u\\x1b[2Jchar'" rawinfo <(printf 'NRRD0005\ntype: u\033[2Jchar\n\n')
}

@test "settings of the OpenMP library that would crash it or make it talk are harmless" {
	pgm 2 2 255 1 2 3 4 >a.pgm
	OMP_STACKSIZE=16k OMP_NUM_THREADS=abc OMP_THREAD_LIMIT=1 OMP_DYNAMIC=true rawtopnm a.pgm >out 2>err
	cmp out a.pgm
	[ ! -s err ]
}

@test "threads wait a little before they sleep, unless the user says how they wait" {
	OMP_DISPLAY_ENV=verbose rawtopnm -V >out 2>&1
	grep -q GOMP_SPINCOUNT out || skip "this is not libgomp"
	grep "GOMP_SPINCOUNT = '300'" out
	OMP_WAIT_POLICY=passive OMP_DISPLAY_ENV=verbose rawtopnm -V 2>&1 | grep "GOMP_SPINCOUNT = '0'"
	GOMP_SPINCOUNT=7 OMP_DISPLAY_ENV=verbose rawtopnm -V 2>&1 | grep "GOMP_SPINCOUNT = '7'"
}

@test "a payload shorter than its header says is refused before any work" {
	! sanitized || skip "the sanitizer needs more memory than this grants"
	{ printf 'NRRD0005\ntype: uchar\ndimension: 1\nsizes: 1000000000\nencoding: raw\n\n' && printf abc; } >short.nrrd
	gen kernels 3 1 1 >k.nrrd
	(
		ulimit -v 400000
		fails 1 'the payload ends after 3 of 1000000000 bytes' wconv -k k.nrrd --max-bytes=2G short.nrrd
	)
}

@test "a header as long as programs write it is read again" {
	{
		printf 'NRRD0005\ntype: uchar\ndimension: 1\nsizes: 1\nencoding: raw\noffsets:='
		seq -s ' ' 400000
		printf '\n7'
	} | pgmtoraw >long.nrrd
	pgmtoraw long.nrrd | cmp - long.nrrd
}

@test "rawinfo --json is valid JSON for any name of a file" {
	command -v python3 >/dev/null || skip "no python3 to read it with"
	pgm 1 1 255 7 >'a"\é'$'\n\e\xff\xc3.pgm'
	for f in a*.pgm; do rawinfo --json "$f"; done >j
	python3 -c 'import json, os; print(os.fsencode(json.load(open("j"))["file"]) == b"a\"\\\xc3\xa9\n\x1b\xff\xc3.pgm")' | grep -x True
	for f in a*.pgm; do rawinfo "$f"; done | head -n 1 >t
	grep -Fq '\n\x1b' t
}
