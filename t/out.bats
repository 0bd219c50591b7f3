load lib

# What -o and --stats name, and what becomes of it: links, devices, descriptors, modes, signals. See common/base/file.h.

prepare() {
	pgm 2 2 255 1 2 3 4 >a.pgm
	pgmtoraw a.pgm >want
}

# Sources that make a library of it, for LD_PRELOAD: open() as on a file system that has no files without names.
without_nameless_files() {
	ldd "$B/pgmtoraw" | grep -q asan && skip "AddressSanitizer must be loaded first"
	cc -shared -fPIC -D_GNU_SOURCE -o nameless.so -x c - <<-'END'
		#include <dlfcn.h>
		#include <errno.h>
		#include <fcntl.h>
		#include <stdarg.h>
		#include <sys/types.h>

		int open(const char *path, int flags, ...) {
			int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
			va_list ap;
			va_start(ap, flags);
			mode_t mode = va_arg(ap, mode_t);
			va_end(ap);
			if ((flags & O_TMPFILE) == O_TMPFILE) { errno = EOPNOTSUPP; return -1; }
			return next(path, flags, mode);
		}
	END
	preload=$PWD/nameless.so
}

# No file but these is in the directory.
only() {
	find . -mindepth 1 -printf '%P\n' | sort | diff - <(printf '%s\n' "$@" | sort)
}

@test "-o through links to standard output writes to standard output" {
	ln -s /proc/self/fd/1 link
	ln -s link second
	for name in link second /dev/stdout /dev/fd/1 /proc/self/fd/1; do
		pgmtoraw -o "$name" a.pgm | cmp - want
	done
	[ -L link ]
	[ -L second ]
}

@test "-o /dev/fd/N goes on where the descriptor stands; one that is closed or read from is refused" {
	{
		echo before >&5
		pgmtoraw -o /dev/fd/5 a.pgm
		echo after >&5
	} 5>out
	cmp out <(echo before && cat want && echo after)
	fails 1 "/dev/fd/9: Bad file descriptor" pgmtoraw -o /dev/fd/9 a.pgm
	exec 5<a.pgm
	fails 1 "/dev/fd/5: Bad file descriptor" pgmtoraw -o /dev/fd/5 a.pgm
	cmp a.pgm <(pgm 2 2 255 1 2 3 4)
}

@test "-o through a symbolic link replaces what the link points to" {
	mkdir d
	echo old >d/file
	ln -s d/file link
	pgmtoraw -o link a.pgm
	[ -L link ]
	cmp d/file want
	ln -s d/new dangling
	pgmtoraw -o dangling a.pgm
	[ -L dangling ]
	cmp d/new want
	ln -s loop loop
	fails 1 "loop: Too many levels" pgmtoraw -o loop a.pgm
}

@test "-o over a file with two names that a full disk cannot take leaves the file as it is" {
	mkdir small
	unshare -rm mount -t tmpfs tmpfs small 2>/dev/null || skip "no file system can be mounted here"
	gen noise 300 300 >old
	gen noise 400 300 >new
	unshare -rm bash -c 'mount -t tmpfs -o size=220k tmpfs small && cp old small/a && ln small/a small/b || exit 9
		rawaxes new -o small/a 2>message
		[ $? -eq 1 ] && cmp old small/a && cmp old small/b && ls -A small' >names
	lines names a/b
	same message "rawaxes: small/a: No space left on device"
}

@test "-o keeps the mode and the hard links of a file that exists" {
	echo old >file
	chmod 600 file
	pgmtoraw -o file a.pgm
	[ "$(stat -c %a file)" = 600 ]
	cmp file want
	echo old >file
	ln file other
	pgmtoraw -o file a.pgm
	[[ other -ef file ]]
	cmp other want
	only a.pgm want file other
	# A new one has the mode that a shell would give it.
	umask 027
	pgmtoraw -o new a.pgm
	[ "$(stat -c %a new)" = 640 ]
}

@test "-o keeps the access control list of a file that exists" {
	echo old >file
	command -v setfacl && setfacl -m u:nobody:rw file || skip "no access control lists here"
	getfacl file >before
	pgmtoraw -o file a.pgm
	cmp file want
	getfacl file | cmp - before
}

# As a user who is not root, if there is a way.
as_user() {
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
	else
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	fi
}

@test "-o does not replace a file that may not be written" {
	echo old >file
	chmod 444 file
	chmod 777 .
	as_user test -x "$B/pgmtoraw" && as_user test -r a.pgm || skip "another user cannot look in here"
	fails 1 "file: Permission denied" as_user pgmtoraw -o file a.pgm
	same file old
}

@test "-o keeps the owner of a file that exists" {
	[ "$(id -u)" -eq 0 ] || skip "only root has files of several owners"
	echo old >file
	chown 65534:65534 file
	pgmtoraw -o file a.pgm
	[ "$(stat -c %u:%g file)" = 65534:65534 ]
	cmp file want
}

@test "what cannot be written is refused: a directory, what is not in one, a full device" {
	mkdir d
	fails 1 "d: Is a directory" pgmtoraw -o d a.pgm
	fails 1 "a.pgm/x: Not a directory" pgmtoraw -o a.pgm/x a.pgm
	fails 1 "nowhere/x: No such file or directory" pgmtoraw -o nowhere/x a.pgm
	fails 1 "nowhere/s: No such file or directory" pgmtoraw --stats=nowhere/s a.pgm
	fails 1 "/dev/full: No space left on device" pgmtoraw -o /dev/full a.pgm
}

@test "-o replaces the input when all of it was read" {
	for name in a.pgm ./a.pgm "$PWD/a.pgm"; do
		pgm 2 2 255 1 2 3 4 >a.pgm
		pgmtoraw -o "$name" a.pgm
		cmp a.pgm want
	done
}

@test "two outputs of one name are refused before anything is read, but two may go to one device" {
	ln -s x link
	fails 2 "x: two outputs go to this file" emst --to=tree --labels-to=x -o x a.pgm
	fails 2 "link: two outputs go to this file" emst --to=tree --labels-to=link -o x a.pgm
	fails 2 "x: two outputs go to this file" pgmtoraw --stats=x -o x a.pgm
	only a.pgm want link stdout stderr
	emst --to=tree --labels-to=/dev/null -o /dev/null a.pgm
}

@test "--stats does not replace an input, and to a full or closed stderr it is a failure" {
	cp a.pgm before
	ln -s a.pgm link
	fails 2 "a.pgm: --stats names this input" pgmtoraw --stats=a.pgm a.pgm
	fails 2 "a.pgm: --stats names this input" pgmtoraw --stats=link a.pgm
	run -2 pgmtoraw --stats=a.pgm <a.pgm
	cmp a.pgm before
	run -1 bash -c 'pgmtoraw --stats a.pgm 2>/dev/full >out'
	run -1 bash -c 'pgmtoraw --stats a.pgm 2>&- >out'
	run -1 bash -c 'pgmtoraw --stats=/dev/full a.pgm >out 2>err'
}

# wait_for_output: until the program that was started last has its output open.
wait_for_output() {
	until find "/proc/$!/fd" -printf '%l\n' 2>/dev/null | grep -q -e "$PWD.*(deleted)" -e "$PWD/.out"; do :; done
}

# signals_leave_nothing [SIGNAL]: each catchable signal that ends a process, and this one, while it waits for input with its output open.
signals_leave_nothing() {
	local status
	mkfifo in
	for signal in "$@" HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM XCPU VTALRM PROF IO PWR SYS RTMIN; do
		ulimit -c 0
		env --default-signal LD_PRELOAD="$preload" "$B/pgmtoraw" -o out <in &
		exec 7>in
		wait_for_output
		kill -s $signal $!
		status=0
		wait $! || status=$?
		exec 7>&-
		[ "$status" -gt 128 ] || { echo "$signal: exit $status" && return 1; }
		[ -z "$(find . -name '*out*')" ] || { echo "$signal: $(find . -name '*out*')" && return 1; }
	done
}

@test "no signal leaves a part of an output behind" {
	! sanitized || skip "the sanitizer takes signals itself"
	preload=
	signals_leave_nothing KILL
}

@test "nor where the file system has no files without names" {
	without_nameless_files
	signals_leave_nothing
}

@test "where the file system has no files without names, all is as elsewhere" {
	without_nameless_files
	export LD_PRELOAD=$preload
	pgmtoraw -o new a.pgm
	cmp new want
	echo old >file
	ln file other
	chmod 600 file
	pgmtoraw -o file a.pgm
	[[ other -ef file ]]
	[ "$(stat -c %a file)" = 600 ]
	cmp other want
	printf 'P5 2 2 255\nab' | run -1 pgmtoraw -o new
	cmp new want
	unset LD_PRELOAD
	only a.pgm want new file other nameless.so
}

@test "no glob of results finds an output that is not done" {
	without_nameless_files
	mkfifo in
	LD_PRELOAD=$preload pgmtoraw -o out.nrrd <in &
	exec 7>in
	wait_for_output
	[ -z "$(compgen -G 'out*')" ]
	[ -n "$(compgen -G '.out.nrrd.*')" ]
	cat a.pgm >&7
	exec 7>&-
	wait $!
	cmp out.nrrd want
	[ -z "$(compgen -G '.out*')" ]
}

@test "a file that reaches its size limit is a failure that says so" {
	gen noise 700 700 >big.pgm
	run -1 bash -c 'ulimit -f 100; pgmtoraw -o out big.pgm 2>&1'
	[ "$output" = "pgmtoraw: out: File too large" ]
	only a.pgm want big.pgm
}

@test "an input that shrinks while it is mapped leaves no output" {
	local mask=$'mask\e[2J.nrrd'
	gen --type=float noise 600 600 >"$mask"
	mkfifo in
	morphrec -m "$mask" -o out <in 2>err &
	exec 7>in
	wait_for_output
	truncate -s 5000 "$mask"
	gen --type=float constant 600 600 0.5 >&7
	exec 7>&-
	wait $! && return 1
	same err 'morphrec: mask\x1b[2J.nrrd: it shrank while it was mapped'
	only a.pgm want "$mask" in err
}

@test "an input that shrinks in its last page, which then ends in zeros, fails, too" {
	gen noise 400 400 >mask.pgm
	for command in 'morphrec -m mask.pgm' 'rawmath a+b mask.pgm -'; do
		rm -f in && mkfifo in
		$command -o out <in 2>err &
		exec 7>in
		gen noise 400 400 | head -c 1000 >&7
		wait_for_output
		truncate -s -10 mask.pgm
		gen noise 400 400 | tail -c +1001 >&7
		exec 7>&-
		wait $! && return 1
		gen noise 400 400 >mask.pgm
		cat err
		grep -qx "${command%% *}: mask.pgm: .*\(it shrank while it was mapped\|the payload ends after 159990 of 160000 bytes\)" err
	done
	only a.pgm want mask.pgm in err
}

@test "a file that is read is not written to in place" {
	gen noise 40 40 >b.pgm
	for command in 'rawtile --size=8x8 c.pgm' 'rawstack c.pgm b.pgm' 'wconv -k c.pgm b.pgm' 'rawinfo c.pgm' 'rawmath a <c.pgm'; do
		cp b.pgm c.pgm
		fails 2 ': input file is output file' bash -c "$command >&3" 3>>c.pgm
		fails 2 ': input file is output file' bash -c "$command >&3" 3<>c.pgm
		cmp b.pgm c.pgm
	done
	rawmath --type=uchar a c.pgm -o c.pgm
	rawmath --type=uchar a <c.pgm | cat - >>b.pgm
}

@test "closed descriptors are not taken by files" {
	run -1 bash -c 'pgmtoraw <&- >out 2>err'
	same err 'pgmtoraw: (stdin): Bad file descriptor'
	run -1 bash -c 'pgmtoraw a.pgm >&- 2>err'
	same err 'pgmtoraw: (stdout): Bad file descriptor'
	bash -c 'pgmtoraw -v -o out a.pgm 2>&-'
	cmp out want
	bash -c 'pgmtoraw -o out a.pgm <&- >&- 2>&-'
	cmp out want
}

@test "an item comes out before the next one arrives" {
	one_by_one a.pgm want pgmtoraw
}

@test "PNM has a byte up to maxval 255, else two, the higher first; a sample above maxval is refused" {
	item uchar '2 1' maxval:=9 -- 1 9 | morphrec --pnm --area=1 | cmp - <(pgm 2 1 9 1 9)
	item uchar '2 1' maxval:=255 -- 1 255 | morphrec --pnm --area=1 | cmp - <(pgm 2 1 255 1 255)
	item ushort '2 1' maxval:=255 -- 1 255 | morphrec --pnm --area=1 | cmp - <(pgm 2 1 255 1 255)
	item ushort '2 1' maxval:=256 -- 1 256 | morphrec --pnm --area=1 | cmp - <(pgm 2 1 256 1 256)
	item ushort '2 1' maxval:=65535 -- 1 258 | morphrec --pnm --area=1 | cmp - <(pgm 2 1 65535 1 258)
	for above in 'uchar 9 10' 'ushort 9 10' 'ushort 9 257' 'ushort 256 257'; do
		read -r type maxval sample <<<"$above"
		fails 1 'which exceeds the maxval' morphrec --pnm --area=1 -o y <(item "$type" '2 1' "maxval:=$maxval" -- 1 "$sample")
	done
}
