# Loaded by every page of tests as `load lib`: this build's programs on PATH, and for each test an empty directory of
# its own to work in. What all tests of a page begin with is its prepare().
bats_require_minimum_version 1.5.0

root=${BATS_TEST_DIRNAME%/t}
B=${B:-build}
case $B in
/*) ;;
*) B=$root/$B ;;
esac
export B PATH=$B:$B/t:$PATH LC_ALL=C

prepare() {
	:
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	prepare
}

# A helper that is not installed fails its test, also where a command is to fail: bash calls this for a name that it does not
# find. A page with a teardown() of its own calls helpers_exist and no_complaints in it.
command_not_found_handle() {
	echo "$1: not installed" | tee -a "$BATS_RUN_TMPDIR/absent.$BATS_SUITE_TEST_NUMBER" >&2
	return 127
}
export -f command_not_found_handle

helpers_exist() {
	[ ! -e "$BATS_RUN_TMPDIR/absent.$BATS_SUITE_TEST_NUMBER" ] || { cat "$BATS_RUN_TMPDIR/absent.$BATS_SUITE_TEST_NUMBER" && return 1; }
}

# complain WORD...: what is wrong. The test goes on, and fails at its end.
complain() {
	printf '%s\n' "$*" >>"$BATS_TEST_TMPDIR/complaints"
}

no_complaints() {
	[ ! -e "$BATS_TEST_TMPDIR/complaints" ] || { cat "$BATS_TEST_TMPDIR/complaints" && return 1; }
}

teardown() {
	helpers_exist && no_complaints
}

# Whether the programs run under AddressSanitizer, which needs memory, signals and an allocator for itself.
sanitized() {
	[[ $(nm -D "$B/rawinfo" 2>/dev/null) == *__asan* ]]
}

# fails_later STATUS TEXT COMMAND...: the command exits with STATUS, and says TEXT (a part of it) in its one line on stderr.
# What it wrote before is in the file stdout.
fails_later() {
	local want=$1 text=$2 got=0
	shift 2
	"$@" >stdout 2>stderr || got=$?
	if [ "$got" -ne "$want" ] || [ "$(wc -l <stderr)" -ne 1 ] || ! grep -qF -- "$text" stderr; then
		echo "$*: exit $got, want $want and \"$text\"; $(wc -c <stdout) bytes on stdout; stderr:"
		cat stderr
		return 1
	fi
}

# fails STATUS TEXT COMMAND...: so does the command, and writes nothing to stdout.
fails() {
	fails_later "$@" || return
	[ ! -s stdout ] || { echo "${*:3}: $(wc -c <stdout) bytes on stdout" && return 1; }
}

# all_fail [COMMAND...]: with the arguments of each line STATUS|TEXT|ARGUMENT ... on stdin, the command fails as `fails` says.
all_fail() {
	local status text arguments
	while IFS='|' read -r status text arguments; do
		# shellcheck disable=SC2086 # arguments are words
		fails "$status" "$text" "$@" $arguments </dev/null || return
	done
}

# fail_alike STATUS TEXT COMMAND WORDS...: with each of the WORDS in place of its @s, the command fails as `fails` says.
fail_alike() {
	local words
	for words in "${@:4}"; do
		# shellcheck disable=SC2086 # the command is words
		fails "$1" "${2//@/$words}" ${3//@/$words} || return
	done
}

# remarks TEXT COMMAND...: the command succeeds, and TEXT is all that it says on stderr; '': it says nothing.
remarks() {
	"${@:2}" 2>stderr || return
	diff <(printf '%s' "${1:+$1$'\n'}") stderr >&2
}

# hints PATTERN COMMAND...: the command succeeds, and a line on stderr has the pattern.
hints() {
	"${@:2}" 2>stderr || return
	grep -q -- "$1" stderr || { cat stderr >&2 && return 1; }
}

# same FILE TEXT: the file holds exactly that text (and the newline that ends it).
same() {
	diff "$1" <(printf '%s\n' "$2")
}

# lines FILE LINE/LINE...: the file holds exactly these lines.
lines() {
	same "$1" "${2//\//$'\n'}"
}

# prints LINE/LINE COMMAND...: the command succeeds, and prints exactly these lines.
prints() {
	"${@:2}" >printed || return
	lines printed "$1"
}

# shows LINE/LINE COMMAND...: the command succeeds, and rawtotext writes its item so.
shows() {
	"${@:2}" >shown || return
	lines <(rawtotext shown) "$1"
}

# says LINE...: the header of the item on stdin, which becomes the file said.head, has these lines.
says() {
	rawinfo >said.head
	for line; do
		grep -xF -- "$line" said.head || return 1
	done
}

# has CARD...: the FITS file on stdin has these cards, as keys.
has() {
	fitstoraw | says "${@/#/fits.}"
}

# one_by_one ITEM WANT COMMAND...: the result, the file WANT, of each ITEM in an open pipe is there before the next ITEM is.
one_by_one() {
	mkfifo in out
	timeout 60 "${@:3}" <in >out 3>&- &
	exec 7>in 8<out
	for _ in 1 2 3; do
		cat "$1" >&7
		head -c "$(stat -c %s "$2")" <&8 | cmp - "$2"
	done
	exec 7>&- 8<&-
	wait $!
	rm in out
}

# shrinks FILE BYTES COMMAND...: the command, which reads FILE, ends with 1 where FILE is cut to BYTES after the first byte of
# output. What it says is in the file stderr.
shrinks() {
	local got=0
	mkfifo pipe
	"${@:3}" >pipe 2>stderr 3>&- &
	exec 7<pipe
	head -c 1 <&7 >/dev/null
	truncate -s "$2" "$1"
	cat <&7 >/dev/null
	wait $! || got=$?
	exec 7<&-
	rm pipe
	[ $got -eq 1 ]
}

# pgm WIDTH HEIGHT MAXVAL SAMPLE...: a PGM (P5) of these samples, on stdout.
pgm() {
	local w=$1 h=$2 max=$3 v
	shift 3
	printf 'P5\n%d %d\n%d\n' "$w" "$h" "$max"
	for v; do
		if [ "$max" -gt 255 ]; then
			printf "\\x$(printf %x $((v >> 8)))"
		fi
		printf "\\x$(printf %x $((v & 255)))"
	done
}

# How perl packs the samples of a type.
perl_codes='%code = (uchar => "C", ushort => "S<", uint => "L<", uint64 => "Q<", short => "s<", int => "l<", int64 => "q<",
	float => "f<", double => "d<", "signed char" => "c", "long long" => "q<", "unsigned long long" => "Q<");'

# item uchar|short|ushort|int|int64|float|double SIZES [LINE ...] -- SAMPLE...: a raw item with these lines in its header, on stdout.
item() {
	local type=$1 sizes=$2 lines=()
	shift 2
	while [ "$1" != -- ]; do
		lines+=("$1")
		shift
	done
	shift
	printf 'NRRD0005\ntype: %s\ndimension: %d\nsizes: %s\n' "$type" "$(wc -w <<<"$sizes")" "$sizes"
	[ "${#lines[@]}" -eq 0 ] || printf '%s\n' "${lines[@]}"
	printf 'endian: little\nencoding: raw\n\n'
	perl -e "$perl_codes"'print pack($code{shift()} . "*", @ARGV)' "$type" "$@"
}

# samples FILE: the payload of a raw file of one item as numbers, one row of axis 0 a line. Of real numbers as few digits as make
# the same sample again, 6 or 15 at least.
samples() {
	tail -c +"$(($(rawinfo --skip "$1") + 1))" "$1" | perl -e "$perl_codes"'
		my ($code, $row) = ($code{$ARGV[0]}, $ARGV[1]);
		local $/;
		my @v = unpack("$code*", <STDIN>);
		for my $v ($code =~ /[fd]/ ? @v : ()) {
			my $digits = $code eq "f<" ? 6 : 15;
			$digits++ until $v != $v || pack($code, sprintf("%.*g", $digits, $v)) eq pack($code, $v);
			$v = lc sprintf("%.*g", $digits, $v);
		}
		print join(" ", splice(@v, 0, $row)), "\n" while @v
	' "$(sed -n 's/^type: //p;/^$/q' "$1")" "$(sed -n 's/^sizes: \([0-9]*\).*/\1/p;/^$/q' "$1")"
}
