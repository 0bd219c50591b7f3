# sutoraw, rawtosu, segytoraw, rawtosegy: traces to gathers and back.
load lib

# poke FILE OFFSET HEX...: these bytes at that offset.
poke() {
	local file=$1 at=$2
	shift 2
	printf "$(printf '\\x%s' "$@")" | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
}

# Two gathers of 3 and 2 traces of 4 samples, dt 4 ms, big-endian: 5 records of 256 bytes.
line() {
	gencmp --traces=3 --samples=4 >a
	gencmp --traces=2 --samples=4 | sed 's/^cdp:=100/cdp:=101/' >b
	cat a b | rawtosu >line.su
}


@test "su: a gather is a run of traces with one cdp" {
	line
	sutoraw line.su >r
	[ "$(grep -ao NRRD0005 r | wc -l)" -eq 2 ]
	grep -aq '^sizes: 4 3$' r
	grep -aq '^sizes: 4 2$' r
	grep -aq '^spacings: 0.004' r
	grep -aq '^units: "s" ""$' r
	grep -aq '^offsets:=50 100 150$' r
	grep -aq '^cdp:=100$' r
}

# gather_by_gather PROGRAM FILE LEAD RECORD: while the pipe is open, a gather of one trace comes out when the next trace is there.
gather_by_gather() {
	local program=$1 file=$2 lead=$3 record=$4 size k
	size=$(($("$program" -k tracl "$file" | wc -c) / 5))
	mkfifo in out
	timeout 60 "$program" -k tracl <in >out &
	exec 7>in 8<out
	head -c $((lead + record)) "$file" >&7
	for k in 1 2 3 4; do
		tail -c +$((lead + k * record + 1)) "$file" | head -c "$record" >&7
		head -c "$size" <&8 >got
		cmp got <("$program" -k tracl "$file" | tail -c +$(((k - 1) * size + 1)) | head -c "$size")
	done
	exec 7>&-
	[ "$(wc -c <&8)" -eq "$size" ]
	exec 8<&-
	wait $!
	rm in out
}

@test "su, segy: gathers come out of an open pipe as soon as the next one begins" {
	line
	sutoraw line.su | rawtosegy >line.sgy
	sutoraw line.su | rawtosu --endian=little >little.su
	gather_by_gather sutoraw line.su 0 256
	gather_by_gather sutoraw little.su 0 256
	gather_by_gather segytoraw line.sgy 3600 256
}

@test "segy: a file of another format is named while its pipe is open" {
	mkfifo in
	timeout 60 segytoraw <in 2>err &
	exec 7>in
	{ printf 'SIMPLE  =' && head -c 400 /dev/zero; } >&7
	wait $! && return 1
	exec 7>&-
	same err 'segytoraw: (stdin): this is FITS; convert it with fitstoraw'
}

@test "su: coordinates of source and group give the offsets in a plane" {
	line
	run -1 grep -aq '^offset-' <(sutoraw line.su)
	# The second trace: scalco -10, source (100, 200), group (350, 150).
	poke line.su $((256 + 70)) ff f6 00 00 00 64 00 00 00 c8 00 00 01 5e 00 00 00 96 00 01
	sutoraw line.su >r
	[ "$(grep -a '^offset-x:=' r)" = 'offset-x:=0 25 0' ]
	[ "$(grep -a '^offset-y:=' r)" = 'offset-y:=0 -5 0' ]
	grep -aq '^offsets:=50 100 150$' r
	poke line.su $((256 + 70)) 00 03
	sutoraw line.su | grep -aq '^offset-x:=0 750 0$'
	poke line.su $((256 + 70)) 00 00
	sutoraw line.su | grep -aq '^offset-y:=0 -50 0$'
	poke line.su $((256 + 88)) 00 02
	run -1 grep -aq '^offset-' <(sutoraw line.su)
}

@test "su: offsets that are all 0 give way to coordinates, but not to those of a stack" {
	line
	for i in 0 1 2 3 4; do
		poke line.su $((i * 256 + 36)) 00 00 00 00
		poke line.su $((i * 256 + 72)) 00 00 00 05 00 00 00 07
	done
	sutoraw -k none line.su >r
	grep -aq '^offsets:=0 0 0 0 0$' r
	run -1 grep -aq '^offset-' r
	for i in 0 1 2 3 4; do poke line.su $((i * 256 + 80)) 00 00 00 08 00 00 00 03; done
	sutoraw -k none line.su >r
	run -1 grep -aq '^offsets' r
	grep -aq '^offset-x:=3 3 3 3 3$' r
	grep -aq '^offset-y:=-4 -4 -4 -4 -4$' r
	radon -q 0:.001:2 -X 5 r | grep -aq '^offsets:=5 5 5 5 5'
}

@test "su: another key makes other gathers, none makes one" {
	line
	[ "$(sutoraw --key=offset line.su | grep -ac '^sizes: 4 1$')" -eq 5 ]
	sutoraw -k none line.su | grep -aq '^sizes: 4 5$'
}

@test "su: a file comes back byte for byte with its headers" {
	line
	poke line.su 180 de ad be ef 00 01
	poke line.su 300 7f
	sutoraw line.su | rawtosu --headers line.su | cmp - line.su
	sutoraw <line.su | rawtosu --headers line.su | cmp - line.su
}

@test "su: both byte orders are found, and give the same item" {
	line
	sutoraw line.su | rawtosu --endian=little >little.su
	run -1 cmp -s line.su little.su
	cmp <(sutoraw line.su) <(sutoraw little.su)
	sutoraw little.su | rawtosu --headers little.su | cmp - little.su
}

@test "su: byte order is found where both would do for ns" {
	for n in 1 2 256 257 512; do
		gencmp --traces=3 --samples=$n | rawtosu >big.su
		gencmp --traces=3 --samples=$n | rawtosu --endian=little >little.su
		cmp <(sutoraw big.su) <(sutoraw little.su)
		sutoraw big.su | grep -aq "^sizes: $n 3$"
	done
}

@test "su: the wrong byte order, forced, is an error that names both readings" {
	gencmp --traces=3 --samples=500 | rawtosu >big.su
	fails 1 'not little-endian: ns would be 62465, dt 40975; big-endian they are 500 and 4000' \
		sutoraw --endian=little big.su
}

@test "su: ns is unsigned: traces of 40000 samples" {
	gencmp --traces=2 --samples=40000 >r
	rawtosu r >long.su
	sutoraw long.su | grep -aq '^sizes: 40000 2$'
	cmp <(sutoraw long.su | tail -c 320000) <(tail -c 320000 r)
	gencmp --traces=1 --samples=65536 >r
	fails 1 '65536 samples a trace: a header holds up to 65535' rawtosu r
}

@test "su: an empty file and one shorter than a header are errors" {
	fails 1 'empty input' sutoraw /dev/null
	head -c 100 /dev/zero >short
	fails 1 '100 bytes are no trace' sutoraw short
}

@test "su: a truncated last trace is an error that names it" {
	line
	for n in 1279 1200 1264 1025; do
		head -c $n line.su >cut.su
		rc=0
		sutoraw cut.su >r 2>err || rc=$?
		[ $rc -eq 1 ]
		grep -q 'cut.su: trace 5: truncated' err
	done
}

@test "su: ns and dt that change are errors that name the trace" {
	line
	cp line.su ns.su
	poke ns.su $((2 * 256 + 114)) 00 05
	rc=0; sutoraw ns.su >r 2>err || rc=$?
	[ $rc -eq 1 ] && grep -q 'trace 3: ns changes from 4 to 5' err
	cp line.su dt.su
	poke dt.su $((3 * 256 + 116)) 00 01
	rc=0; sutoraw dt.su >r 2>err || rc=$?
	[ $rc -eq 1 ] && grep -q 'trace 4: dt changes from 4000 to 1 us' err
	sutoraw --dt=.004 dt.su | cmp - <(sutoraw --dt=.004 line.su)
}

@test "su: ns 0 and dt 0 are errors; --dt says what no header does" {
	line
	for i in 0 1 2 3 4; do poke line.su $((i * 256 + 116)) 00 00; done
	fails 1 'trace 1: dt is 0; give --dt=SECONDS' sutoraw line.su
	sutoraw --dt=.002 line.su | grep -aq '^spacings: 0.002'
	for i in 0 1 2 3 4; do poke line.su $((i * 256 + 114)) 00 00; done
	fails 1 'ns is 0' sutoraw --dt=.002 line.su
}

@test "su: a negative dt is an error, and one above 32767 us is not" {
	line
	rawtosegy a >i.sgy
	sutoraw --dt=.004 line.su >want
	cp line.su long.su
	for i in 0 1 2 3 4; do poke line.su $((i * 256 + 116)) f0 60; done
	fails 1 'line.su: trace 1: dt is -4000; give --dt=SECONDS' sutoraw line.su
	sutoraw --dt=.004 line.su | cmp - want
	for i in 0 1 2 3 4; do poke long.su $((i * 256 + 116)) 9c 40; done
	sutoraw long.su | grep -aq '^spacings: 0.04'
	sutoraw long.su | rawtosu --headers=long.su | cmp - long.su
	poke i.sgy 3216 f0 60
	for i in 0 1 2; do poke i.sgy $((3600 + i * 256 + 116)) f0 60; done
	fails 1 'i.sgy: dt is -4000; give --dt=SECONDS' segytoraw i.sgy
	segytoraw --dt=.004 i.sgy | grep -aq '^spacings: 0.004'
	poke i.sgy 3216 9c 40
	for i in 0 1 2; do poke i.sgy $((3600 + i * 256 + 116)) 9c 40; done
	segytoraw i.sgy | grep -aq '^spacings: 0.04'
}

@test "su: headers of another number of traces or samples are errors" {
	line
	rc=0; cat a | rawtosu --headers line.su >r 2>err || rc=$?
	[ $rc -eq 1 ] && grep -q 'line.su: more traces than the 3 of the items' err
	rc=0; cat a a | rawtosu --headers line.su >r 2>err || rc=$?
	[ $rc -eq 1 ] && grep -q 'more traces than the 5 of line.su' err
	gencmp --traces=5 --samples=5 >c
	fails 1 '5 samples a trace, and line.su has 4' rawtosu --headers line.su c
}

@test "su: made headers hold dt, delay and offsets, or say why not" {
	gencmp --traces=2 --samples=4 --dt=.0000004 >r
	fails 1 'dt as 1..65535 whole us' rawtosu r
	item float '4 2' -- 1 2 3 4 5 6 7 8 >r
	fails 1 'the time axis has no spacing' rawtosu r
	gencmp --traces=2 --samples=4 >r
	[ "$(rawtosu r | head -c 40 | tail -c 4 | od -An -tu1 | tr -d ' ')" = 00050 ]
}

@test "su: made headers take the offsets of each trace, or refuse a list of another length" {
	item float '2 2 2' 'spacings: .004 nan nan' 'offsets:=5 6' -- {1..8} >a
	[ "$(rawtosu a | sutoraw -k none | rawinfo | sed -n 's/^offsets:=//p')" = '5 6 5 6' ]
	item float '2 2 2' 'spacings: .004 nan nan' 'offsets:=5 6 7 8' -- {1..8} >a
	[ "$(rawtosu a | sutoraw -k none | rawinfo | sed -n 's/^offsets:=//p')" = '5 6 7 8' ]
	item float '2 2' 'spacings: .004 nan' 'offsets:=5 6 7' -- {1..4} >a
	fails 1 '3 offsets for 2 traces' rawtosu a
	item float '2 2' 'spacings: .004 nan' 'offsets:=5 6x' -- {1..4} >a
	fails 1 'offsets:= is not a list of numbers' rawtosu a
}

@test "segy: IBM and IEEE files come back byte for byte, and as the same numbers" {
	line
	for format in ibm ieee; do
		sutoraw line.su | rawtosegy --format=$format >$format.sgy
		segytoraw $format.sgy | rawtosegy --headers $format.sgy | cmp - $format.sgy
	done
	[ "$(segytoraw ieee.sgy | grep -ao NRRD0005 | wc -l)" -eq 2 ]
	cmp <(segytoraw -k none ieee.sgy | tail -c 80) <(sutoraw -k none line.su | tail -c 80)
}

@test "segy: IBM samples are those of the book: -118.625 is c276a000" {
	line
	rawtosegy --format=ibm a >i.sgy
	poke i.sgy 3840 c2 76 a0 00 42 64 00 00
	segytoraw i.sgy >r
	tail -c 48 r | head -c 8 >two
	[ "$(od -An -tf4 two | tr -s ' ')" = ' -118.625 100' ]
}

@test "segy: integer samples are read and written" {
	line
	rawtosegy a >i.sgy
	poke i.sgy 3224 00 03
	head -c 3848 i.sgy >short.sgy
	poke short.sgy 3840 00 01 ff ff 7f ff 80 00
	segytoraw short.sgy >r
	[ "$(tail -c 16 r | od -An -tf4 | tr -s ' ')" = ' 1 -1 32767 -32768' ]
	rawtosegy --headers short.sgy r | cmp - short.sgy
}

@test "segy: IBM floats that are not normalised, tiny or huge are read, and keep their bytes" {
	line
	rawtosegy --format=ibm a >i.sgy
	poke i.sgy 3840 47 00 37 4c 21 10 00 00 7f ff ff ff 1b 80 00 00
	segytoraw i.sgy >r
	samples r | head -1 >one
	same one '226496 2.938736e-39 inf 1e-45'
	rawtosegy --headers i.sgy r | cmp - i.sgy
}

@test "segy: samples of every size, in both orders, keep their bytes" {
	line
	rawtosegy a >i.sgy
	head -c 3840 i.sgy >f2.sgy
	poke f2.sgy 3224 00 02
	printf '\x7f\xff\xff\xff\0\0\0\1\x80\0\0\1\0\1\0\0' >>f2.sgy
	head -c 3840 i.sgy >f15.sgy
	poke f15.sgy 3224 00 0f
	printf '\xff\xff\xff\0\0\1\0\1\0\1\0\0' >>f15.sgy
	head -c 3840 i.sgy >f6.sgy
	poke f6.sgy 3224 00 06
	printf '\x3f\xf0\0\0\0\0\0\1\xc0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\x59\0\0\0\0\0\0' >>f6.sgy
	for f in f2 f15 f6; do
		segytoraw $f.sgy >$f
		rawtosegy --headers $f.sgy $f | cmp - $f.sgy
		samples $f
	done >all
	same all "$(printf '%s\n' '2.1474836e+09 1 -2.1474836e+09 65536' '16777215 1 256 65536' '1 -2.5 0 100')"
	head -c 3840 i.sgy >f16.sgy
	for word in '3216 a0 0f' '3220 04 00' '3224 10 00' '3714 04 00 a0 0f'; do poke f16.sgy $word; done
	printf '\0\1\xfe\xff' >>f16.sgy
	segytoraw f16.sgy >f16
	samples f16 >one
	same one '0 1 254 255'
	rawtosegy --headers f16.sgy f16 | cmp - f16.sgy
}

@test "segy: an old ns in the binary header or in the traces is found out" {
	line
	rawtosegy a >i.sgy
	segytoraw i.sgy >want
	cp i.sgy b.sgy
	poke b.sgy 3220 00 07
	cp i.sgy t.sgy
	for i in 0 1 2; do poke t.sgy $((3600 + i * 256 + 114)) 01 ce; done
	for f in b t; do
		segytoraw $f.sgy | cmp - want
		segytoraw <$f.sgy | cmp - want
		rawtosegy --headers $f.sgy want | cmp - $f.sgy
	done
	head -c 3856 t.sgy | segytoraw | grep -aq '^sizes: 4 1$'
	poke t.sgy 3220 00 07
	fails 1 'ns is 7 in the binary header and 462 in the first trace, and neither fits' segytoraw t.sgy
}

@test "segy: delrt is scaled by byte 215 from revision 1 on" {
	line
	rawtosegy a >i.sgy
	for i in 0 1 2; do
		poke i.sgy $((3600 + i * 256 + 108)) 27 10
		poke i.sgy $((3600 + i * 256 + 214)) ff f6
	done
	segytoraw i.sgy | grep -aq '^axis mins: 1 '
	poke i.sgy 3500 00
	segytoraw i.sgy | grep -aq '^axis mins: 10 '
}

# longer FILE: its 3 traces of 4 samples, each with a further header of 240 bytes.
longer() {
	head -c 3600 "$1"
	for i in 0 1 2; do
		tail -c +$((3601 + i * 256)) "$1" | head -c 240
		printf '%0240d' 0 | tr 0 '\0'
		tail -c +$((3841 + i * 256)) "$1" | head -c 16
	done
}

@test "segy: further trace headers of revision 2 are passed over, and come back" {
	line
	rawtosegy a >i.sgy
	segytoraw i.sgy >r
	longer i.sgy >h.sgy
	poke h.sgy 3500 02 01 00 00 00 00 00 01
	poke h.sgy $((3600 + 240 + 156)) 00 01
	segytoraw h.sgy | cmp - r
	rawtosegy --headers=h.sgy r | cmp - h.sgy
	poke h.sgy 3220 00 05
	segytoraw h.sgy | cmp - r
	poke h.sgy $((3600 + 240 + 156)) 00 02
	fails 1 'trace 1: 2 further headers, and the binary header has 1' segytoraw h.sgy
	poke h.sgy $((3600 + 240 + 156)) 00 00
	for at in 3506 3508; do
		poke h.sgy 3500 02 00 00 00 00 00 00 00 00 00
		poke h.sgy $at 00 01
		segytoraw h.sgy | cmp - r
	done
	poke h.sgy 3506 00 66
	fails 1 '102 further headers of a trace: up to 100 are read' segytoraw h.sgy
}

@test "segy: text headers of unknown number end with EndText, in ASCII or EBCDIC" {
	line
	rawtosegy a >i.sgy
	segytoraw i.sgy >r
	poke i.sgy 3504 ff ff
	for end in '((SEG: EndText))' '((seg:ENDTEXT))' 'MM\342\305\307z@\305\225\204\343\205\247\243]]'; do
		{
			head -c 3600 i.sgy
			printf '%-3200s' '((SEG: Location))'
			{ printf "$end"; printf '%3200s' ''; } | head -c 3200
			tail -c +3601 i.sgy
		} >u.sgy
		segytoraw u.sgy | cmp - r
		rawtosegy --headers=u.sgy r | cmp - u.sgy
	done
	fails 1 'no ((SEG: EndText))' segytoraw i.sgy
}

@test "segy: too many samples of revision 2 are refused" {
	line
	rawtosegy a >i.sgy
	poke i.sgy 3500 02 00
	segytoraw i.sgy | cmp - <(rawtosegy a | segytoraw)
	poke i.sgy 3268 00 01 86 a0
	fails 1 '100000 samples a trace: up to 65535 are read' segytoraw i.sgy
}

@test "segy: NaN is an error where the format has none" {
	item float '2 1' 'spacings: .004 nan' -- 1 nan >a
	rawtosegy a >i.sgy
	rc=0; rawtosegy --format=ibm a >r 2>err || rc=$?
	[ $rc -eq 1 ] && grep -q 'a: .*trace 1: sample 2 is nan, and format 1 has none' err
}

@test "segy: an unknown format, no trace, a truncated trace are errors" {
	line
	rawtosegy a >i.sgy
	cp i.sgy f.sgy
	poke f.sgy 3224 00 04
	fails 1 'sample format 4 is none of' segytoraw f.sgy
	head -c 3600 i.sgy >h.sgy
	fails 1 'no trace after the headers' segytoraw h.sgy
	head -c 100 i.sgy >s.sgy
	fails 1 '100 bytes are no SEG-Y file' segytoraw s.sgy
	fails 1 'empty input' segytoraw /dev/null
	head -c 3900 i.sgy >t.sgy
	rc=0; segytoraw t.sgy >r 2>err || rc=$?
	[ $rc -eq 1 ] && grep -q 'trace 2: truncated: 44 of 256 bytes' err
}

@test "segy: --dt counts where the binary header and the traces differ" {
	line
	rawtosegy a >i.sgy
	cp i.sgy d.sgy
	poke d.sgy 3216 00 01
	fails 1 'trace 1: dt changes from 1 to 4000 us' segytoraw d.sgy
	segytoraw --dt=.004 d.sgy | cmp - <(segytoraw --dt=.004 i.sgy)
}

@test "segy: --format beside --headers is wrong usage" {
	line
	rawtosegy a >i.sgy
	fails 2 'give one of them' rawtosegy --headers i.sgy --format=ibm a
}

@test "su: programs name sutoraw for a file of SU, and segytoraw for one of SEG-Y" {
	line
	rawtosegy a >i.sgy
	rawtosu --endian=little a >little.su
	head -c 256 line.su >one.su
	for f in line.su little.su one.su; do
		fails 1 "$f: this is SU; convert it with sutoraw" rawinfo $f
	done
	fails 1 'i.sgy: this is SEG-Y; convert it with segytoraw' radon -q 0:1:3 -X 3 i.sgy
	fails 1 'i.sgy: this is SEG-Y; convert it with segytoraw' sutoraw i.sgy
	fails 1 'one.su: this is SU; convert it with sutoraw' segytoraw one.su
	fails 1 'rawtosu: a: this is raw, and --headers takes SU' rawtosu --headers=a a
	fails 1 'rawtosegy: one.su: this is SU, and --headers takes SEG-Y' rawtosegy --headers=one.su a
	head -c 250 line.su >cut.su
	fails 1 'unknown format' rawinfo cut.su
}
