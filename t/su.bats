# sutoraw, rawtosu, segytoraw, rawtosegy: traces to gathers and back.
load lib

# poke FILE OFFSET HEX...: these bytes at that offset.
poke() {
	local file=$1 at=$2
	shift 2
	printf "$(printf '\\x%s' "$@")" | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
}

# poke_all FILE LEAD OFFSET HEX...: the same in the header of each trace of 256 bytes, behind a lead.
poke_all() {
	local file=$1 lead=$2 at=$3 i n
	shift 3
	n=$((($(stat -c %s "$file") - lead) / 256))
	for ((i = 0; i < n; i++)); do poke "$file" $((lead + i * 256 + at)) "$@"; done
}

# Two gathers of 3 and 2 traces of 4 samples, dt 4 ms, big-endian: line.su has 5 records of 256 bytes, i.sgy the first three.
prepare() {
	gencmp --traces=3 --samples=4 >a
	gencmp --traces=2 --samples=4 | sed 's/^cdp:=100/cdp:=101/' >b
	cat a b | rawtosu >line.su
	rawtosegy a >i.sgy
	segytoraw i.sgy >i
}

@test "su: a gather is a run of traces with one cdp, or with another key; none makes one" {
	sutoraw line.su >r
	[ "$(grep -ao NRRD0005 r | wc -l)" -eq 2 ]
	says 'sizes: 4 3' 'sizes: 4 2' 'units: "s" ""' 'offsets:=50 100 150' cdp:=100 'spacings: 0.0040000000000000001 nan' <r
	[ "$(sutoraw --key=offset line.su | grep -ac '^sizes: 4 1$')" -eq 5 ]
	sutoraw -k none line.su | grep -aq '^sizes: 4 5$'
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
	run -1 grep -aq '^offset-' <(sutoraw line.su)
	# The second trace: scalco, then source (100, 200), group (350, 150).
	while read -r scale x y; do
		poke line.su $((256 + 70)) ${scale/,/ } 00 00 00 64 00 00 00 c8 00 00 01 5e 00 00 00 96 00 01
		sutoraw line.su >r 2>err
		says "offset-x:=0 $x 0" "offset-y:=0 $y 0" 'offsets:=50 100 150' <r
		grep -q "^sutoraw: line.su: trace 2: its offset is 100, but source and group are .* apart; so it is with 1 of 3 " err
	done <<-'END'
		ff,f6 25 -5
		00,03 750 -150
		00,00 250 -50
	END
	poke line.su $((256 + 88)) 00 02
	run -1 grep -aq '^offset-' <(sutoraw line.su)
}

@test "su: offsets that are all 0 give way to coordinates, but not to those of a stack" {
	poke_all line.su 0 36 00 00 00 00
	poke_all line.su 0 72 00 00 00 05 00 00 00 07
	sutoraw -k none line.su | says 'offsets:=0 0 0 0 0'
	run -1 grep '^offset-' said.head
	poke_all line.su 0 80 00 00 00 08 00 00 00 03
	sutoraw -k none line.su >r
	says 'offset-x:=3 3 3 3 3' 'offset-y:=-4 -4 -4 -4 -4' <r
	run -1 grep '^offsets' said.head
	radon -q 0:.001:2 -X 5 r | grep -aq '^offsets:=5 5 5 5 5'
}

@test "su: a file comes back byte for byte with its headers, in both byte orders, which are found" {
	sutoraw line.su | rawtosu --endian=little >little.su
	run -1 cmp -s line.su little.su
	cmp <(sutoraw line.su) <(sutoraw little.su)
	poke line.su 180 de ad be ef 00 01
	poke line.su 300 7f
	for f in line.su little.su; do
		sutoraw <$f | rawtosu --headers $f | cmp - $f
	done
	# Both orders would do for ns.
	for n in 1 2 256 257 512 40000; do
		gencmp --traces=3 --samples=$n | rawtosu >big.su
		gencmp --traces=3 --samples=$n | rawtosu --endian=little >little.su
		cmp <(sutoraw big.su) <(sutoraw little.su)
		sutoraw big.su | grep -aq "^sizes: $n 3$"
	done
	gencmp --traces=1 --samples=65536 >r
	fails 1 '65536 samples a trace: a header holds up to 65535' rawtosu r
}

@test "su: truncated files, and ns and dt that change, are errors that name the trace" {
	head -c 100 /dev/zero >short
	fails 1 '100 bytes are no trace' sutoraw short
	for n in 1279 1200 1264 1025; do
		head -c $n line.su >cut.su
		fails_later 1 'cut.su: trace 5: truncated' sutoraw cut.su
	done
	cp line.su ns.su
	poke ns.su $((2 * 256 + 114)) 00 05
	fails_later 1 'trace 3: ns changes from 4 to 5' sutoraw ns.su
	cp line.su dt.su
	poke dt.su $((3 * 256 + 116)) 00 01
	fails_later 1 'trace 4: dt changes from 4000 to 1 us' sutoraw dt.su
	sutoraw --dt=.004 dt.su | cmp - <(sutoraw --dt=.004 line.su)
	poke_all ns.su 0 114 00 00
	fails 1 'ns is 0' sutoraw --dt=.002 ns.su
}

@test "su, segy: a dt of 0 or below is an error, --dt overrides it, and one above 32767 us is right" {
	# HEX WHAT: the dt of all headers, and what it is said to be, or the spacing.
	while read -r high low what; do
		poke_all line.su 0 116 "$high" "$low"
		poke_all i.sgy 3600 116 "$high" "$low"
		poke i.sgy 3216 "$high" "$low"
		if [ "$what" = .04 ]; then
			sutoraw line.su | grep -aq '^spacings: 0.04'
			sutoraw line.su | rawtosu --headers=line.su | cmp - line.su
			segytoraw i.sgy | grep -aq '^spacings: 0.04'
		else
			fails 1 "line.su: trace 1: dt is $what; give --dt=SECONDS" sutoraw line.su
			fails 1 "i.sgy: dt is $what; give --dt=SECONDS" segytoraw i.sgy
			sutoraw --dt=.002 line.su | grep -aq '^spacings: 0.002'
			segytoraw --dt=.002 i.sgy | grep -aq '^spacings: 0.002'
		fi
	done <<-'END'
		00 00 0
		f0 60 -4000
		9c 40 .04
	END
}

@test "su, segy: --headers must have as many traces and samples, and its own format" {
	fails_later 1 'line.su: more traces than the 3 of the items' rawtosu --headers line.su a
	fails_later 1 'more traces than the 5 of line.su' rawtosu --headers line.su <(cat a a)
	gencmp --traces=5 --samples=5 >c
	fails_later 1 '5 samples a trace, and line.su has 4' rawtosu --headers line.su c
	fails 1 '3 samples a trace, and line.su has 4' rawtosu --headers line.su <(rawaxes --crop=0:0:3 a)
	fails 2 'give one of them' rawtosu --headers line.su --endian=big a
	fails 2 'give one of them' rawtosegy --headers i.sgy --format=ibm a
	fails 2 '--ns goes with --headers' rawtosegy --ns=4 a
}

@test "su: made headers hold dt, delay and the offset of each trace, or say why not" {
	[ "$(rawtosu a | head -c 40 | tail -c 4 | od -An -tu1 | tr -d ' ')" = 00050 ]
	for offsets in '5 6,5 6 5 6' '5 6 7 8,5 6 7 8'; do
		item float '2 2 2' 'spacings: .004 nan nan' "offsets:=${offsets%,*}" -- {1..8} | rawtosu | sutoraw -k none |
			rawinfo | grep -x "offsets:=${offsets#*,}"
	done
	while IFS=, read -r spacing offsets text; do
		item float '2 2' "spacings: $spacing nan" "offsets:=$offsets" -- {1..4} >bad
		fails_later 1 "$text" rawtosu bad
	done <<-'END'
		.0000004,5 6,dt as 1..65535 whole us
		nan,5 6,the time axis has no spacing
		.004,5 6 7,offsets:= has 3 numbers for 2 traces
		.004,5 6x,offsets:= is not a list of numbers
		.004,5 3e9,trace 2: an offset of 3e+09
	END
	for cdp in 7x 1.5 2147483648 '1 2' ''; do
		item float '2 2' 'spacings: .004 nan' "cdp:=$cdp" -- {1..4} | rawtosu 2>said | sutoraw | grep -axF cdp:=1
		same said "rawtosu: (stdin): item 1: cdp:=$cdp is no whole number of 32 bits, and is left out"
	done
}

@test "segy: IBM and IEEE files come back byte for byte, and as the same numbers" {
	for format in ibm ieee; do
		sutoraw line.su | rawtosegy --format=$format >$format.sgy
		segytoraw $format.sgy | rawtosegy --headers $format.sgy | cmp - $format.sgy
	done
	[ "$(segytoraw ieee.sgy | grep -ao NRRD0005 | wc -l)" -eq 2 ]
	cmp <(segytoraw -k none ieee.sgy | tail -c 80) <(sutoraw -k none line.su | tail -c 80)
}

@test "segy: samples of every format, in both orders, are read and keep their bytes" {
	# IBM floats: -118.625 of the book, 100, one that is not normalised, tiny ones, one that is too large.
	while IFS=, read -r format samples want; do
		head -c 3840 i.sgy >f.sgy
		poke f.sgy 3224 00 "$format"
		printf "$samples" >>f.sgy
		segytoraw f.sgy >f
		same <(samples f) "$want"
		rawtosegy --headers f.sgy f | cmp - f.sgy
	done <<-'END'
		01,\xc2\x76\xa0\0\x42\x64\0\0\x47\0\x37\x4c\x21\x10\0\0,-118.625 100 226496 2.938736e-39
		01,\x7f\xff\xff\xff\x1b\x80\0\0\0\0\0\0\x41\x10\0\0,inf 1.4013e-45 0 1
		02,\x7f\xff\xff\xff\0\0\0\1\x80\0\0\1\0\1\0\0,2.1474836e+09 1 -2.1474836e+09 65536
		03,\0\1\xff\xff\x7f\xff\x80\0,1 -1 32767 -32768
		06,\x3f\xf0\0\0\0\0\0\1\xc0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\x59\0\0\0\0\0\0,1 -2.5 0 100
		0f,\xff\xff\xff\0\0\1\0\1\0\1\0\0,16777215 1 256 65536
	END
	head -c 3840 i.sgy >f.sgy
	for word in '3216 a0 0f' '3220 04 00' '3224 10 00' '3714 04 00 a0 0f'; do poke f.sgy $word; done
	printf '\0\1\xfe\xff' >>f.sgy
	segytoraw f.sgy >f
	same <(samples f) '0 1 254 255'
	rawtosegy --headers f.sgy f | cmp - f.sgy
	item float '2 1' 'spacings: .004 nan' -- 1 nan >n
	rawtosegy n | segytoraw | rawtotext | grep -x '1 nan'
	fails_later 1 'trace 1: sample 2 is nan, and format 1 has none' rawtosegy --format=ibm n
}

@test "segy: an old ns in the binary header or in the traces is found out" {
	cp i.sgy b.sgy
	poke b.sgy 3220 00 07
	cp i.sgy t.sgy
	poke_all t.sgy 3600 114 01 ce
	for f in b t; do
		segytoraw <$f.sgy | cmp - i
		rawtosegy --headers $f.sgy i | cmp - $f.sgy
	done
	head -c 3856 t.sgy | segytoraw | grep -aq '^sizes: 4 1$'
	poke t.sgy 3220 00 07
	fails 1 'ns is 7 in the binary header and 462 in the first trace, and neither fits' segytoraw t.sgy
}

@test "segy: delrt is scaled by byte 215 from revision 1 on" {
	poke_all i.sgy 3600 108 27 10
	poke_all i.sgy 3600 214 ff f6
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

@test "segy: further trace headers of revision 2 are passed over, and come back; ns has its limit" {
	longer i.sgy >h.sgy
	poke h.sgy 3500 02 01 00 00 00 00 00 01
	poke h.sgy $((3600 + 240 + 156)) 00 01
	segytoraw h.sgy | cmp - i
	rawtosegy --headers=h.sgy i | cmp - h.sgy
	poke h.sgy 3220 00 05
	segytoraw h.sgy | cmp - i
	poke h.sgy $((3600 + 240 + 156)) 00 02
	fails 1 'trace 1: 2 further headers, and the binary header has 1' segytoraw h.sgy
	poke h.sgy $((3600 + 240 + 156)) 00 00
	for at in 3506 3508; do
		poke h.sgy 3500 02 00 00 00 00 00 00 00 00 00
		poke h.sgy $at 00 01
		segytoraw h.sgy | cmp - i
	done
	poke h.sgy 3506 00 66
	fails 1 '102 further headers of a trace: up to 100 are read' segytoraw h.sgy
	poke i.sgy 3500 02 00
	segytoraw i.sgy | cmp - i
	poke i.sgy 3268 ff ff ff ff
	fails 1 '4294967295 samples a trace are larger than 1048576 bytes' segytoraw --max-bytes=1M i.sgy
}

@test "segy: more than 65535 samples a trace come and go by revision 2, or by --ns" {
	gencmp --traces=2 --samples=70000 >long
	rawtosegy long >long.sgy
	segytoraw long.sgy | tail -c 560000 | cmp - <(tail -c 560000 long)
	segytoraw long.sgy | rawtosegy --headers=long.sgy | cmp - long.sgy
	segytoraw long.sgy | rawaxes --crop=0:0:69999 | rawtosegy --headers=long.sgy | segytoraw | rawinfo | grep -x 'sizes: 69999 2'
	poke long.sgy 3500 01
	fails 1 'ns is 0; give --ns=N' segytoraw long.sgy
	segytoraw --ns=70000 long.sgy | rawtosegy --ns=70000 --headers=long.sgy | cmp - long.sgy
}

@test "su, segy: --ns and --delay override the headers" {
	for f in line.su i.sgy; do
		to=${f##*.} lead=0
		[ $to = su ] || to=segy lead=3600
		${to}toraw $f >want
		cp $f bad
		poke_all bad $lead 114 00 07
		poke bad $((lead + 256 + 114)) 00 09
		${to}toraw --ns=4 bad >got
		cmp <(rawto$to got) <(rawto$to want)
		rawto$to --ns=4 --headers=bad got | cmp - bad
		${to}toraw --delay=-.5 $f | rawinfo | grep -x 'axis mins: -0.5 nan'
	done
}

@test "su, segy: the key of gathers comes back without --headers, whatever word it is" {
	for key in fldr:8 ep:16 cdp:20 iline:188 xline:192; do
		name=${key%:*}
		for i in 0 1 2 3 4; do poke line.su $((256 * i + ${key#*:})) 00 00 00 0$((7 + i / 3)); done
		sutoraw -k $name line.su | tee k | rawinfo | grep -e ^sizes -e ^$name >want
		rawtosu k | sutoraw -k $name | rawinfo | grep -e ^sizes -e ^$name | diff want -
		rawtosegy k | segytoraw -k $name | rawinfo | grep -e ^sizes -e ^$name | diff want -
	done
}

# records NUMBER...: these records of line.su.
records() {
	for i; do tail -c +$((256 * (i - 1) + 1)) line.su | head -c 256; done
}

@test "su: cut, turned and joined traces take their own headers, by traces:=" {
	for i in 0 1 2 3 4; do poke line.su $((256 * i + 180)) de 0$i; done
	sutoraw line.su >r
	rawaxes --flip=1 r | rawtosu --headers=line.su | cmp - <(records 3 2 1 5 4)
	rawaxes --crop=1:1:2 r | rawtosu --headers=<(cat line.su) | cmp - <(records 2 5)
	rawaxes --slice=1:1 r | rawtosu --headers=line.su | cmp - <(records 2 5)
	sutoraw -k none line.su >all
	rawtile --size=2x2 all | rawjoin | rawtosu --headers=line.su | cmp - line.su
	fails_later 1 'trace 4: a pipe does not go back to it' rawtosu --headers=<(cat line.su) <(rawaxes --flip=1 all)
	fails_later 1 'trace 1: traces:= has 1e+30, which is no number of a trace' rawtosu --headers=line.su <(sed 's/^traces:=1/traces:=1e30/' all)
	fails_later 1 'trace 5: line.su has no trace 6' rawtosu --headers=line.su <(sed 's/^traces:=.*5$/traces:=1 2 3 4 6/' all)
	fails 1 'traces:= has 4 numbers for 5 traces' rawtosu --headers=line.su <(sed 's/^\(traces:=.*\) 5$/\1/' all)
}

# numbers: the lists traces:= of the items on stdin, with commas between them.
numbers() {
	rawinfo | sed -n 's/^traces:=//p' | paste -sd,
}

@test "su, segy: sorted traces are gathers, ties stay as they are, and all return to the order of the file" {
	for word in 20:2 276:1 532:2 788:1 1044:1; do poke line.su ${word%:*} 00 00 00 0${word#*:}; done
	same <(sutoraw --sort=cdp,offset line.su | numbers) '4 2 5,1 3'
	same <(sutoraw --sort=-cdp,-offset line.su | numbers) '3 1,2 5 4'
	same <(sutoraw --sort=offset line.su | numbers) '1 4,2 5,3'
	same <(sutoraw --sort=offset,cdp -k none line.su | numbers) '4 1 2 5 3'
	sutoraw --sort=cdp,offset line.su >s
	sutoraw --sort=cdp,offset <line.su | cmp - s
	cat line.su | sutoraw --sort=cdp,offset | cmp - s
	rawtosu --headers=line.su s | cmp - line.su
	rawtosu --headers=line.su --sorted s | cmp - <(records 4 2 5 1 3)
	rawaxes --flip=1 s | rawtosu --headers=line.su | cmp - line.su
	rawaxes --crop=1:1:2 s | rawtosu --headers=line.su | cmp - <(records 2 3)
	for samples in 4 40000; do
		gencmp --traces=70 --samples=$samples | rawtosegy >l.sgy
		segytoraw --sort=-offset l.sgy -k none >s
		segytoraw l.sgy | rawaxes --flip=1 >f
		diff <(samples s) <(samples f)
		rawtosegy --headers=l.sgy s | cmp - l.sgy
	done
}

@test "su: a wrong --sort, a file that is cut and a pipe that is none of the shell's are refused" {
	fail_alike 2 "--sort: '@' is not KEY,KEY..., up to 4 of tracl|" 'sutoraw --sort=@ line.su' '' 'cdp,' cdq cdp,offset,ep,sx,gx
	fails 2 '--sort: cdp is named twice' sutoraw --sort=cdp,-cdp line.su
	head -c 1200 line.su >cut.su
	fails 1 'cut.su: trace 5: truncated: 176 of 256 bytes' sutoraw --sort=cdp cut.su
	fails 1 '--sort reads a file twice' sutoraw --sort=cdp <(cat line.su)
	fails 2 '--sorted goes with --headers' rawtosu --sorted a
}

@test "radon, segy: traces between those of the file have interpolated offsets and coordinates, and a trid of 3" {
	for k in 0 1 2; do poke i.sgy $((3680 + 256 * k)) 00 00 00 $((3 + 2 * k))0; done
	segytoraw i.sgy | radon -q 0:.1:3 -X 150 --quiet >p
	radon --model --quiet --offsets=<(echo 25 100 130) p >m
	same <(numbers <m) '1:2:-0.5 2 3:2:0.4'
	rawtosegy --headers=i.sgy m >m.sgy
	segytoraw m.sgy | rawinfo | grep -x -e 'offsets:=25 100 130' -e 'offset-x:=32 80 99' | wc -l | grep -x 2
	for k in 0 1 2; do tail -c +$((3629 + 256 * k)) m.sgy | head -c 2 | od -An -tu1; done | xargs | grep -x '0 3 0 1 0 3'
	rawaxes --crop=1:1:3 --flip=1 m | rawtosegy --headers=i.sgy | cmp - <(head -c 3600 m.sgy && tail -c 256 m.sgy && tail -c 512 m.sgy | head -c 256)
	fails 1 'traces:= is not a list of numbers' rawtosegy --headers=i.sgy <(sed 's/^traces:=1:2:/traces:=1:/' m)
	fails_later 1 'trace 3: i.sgy has no trace 9' rawtosegy --headers=i.sgy <(sed 's/3:2:0.4/3:9:0.4/' m)
	fails_later 1 'traces:= leads to' rawtosegy --headers=i.sgy <(sed 's/3:2:0.4/3:2:4e9/' m)
}

@test "radon, segy: in a plane a new trace has the header of the nearest one, moved; what its neighbours share stays" {
	# Three traces of one source, at 1,2, in dm: the groups are 10,0, 0,20 and -30,0 m from it.
	poke_all i.sgy 3600 70 ff f6
	poke_all i.sgy 3600 72 00 00 00 0a 00 00 00 14
	for k in "0 6e 14" "1 0a dc"; do
		set -- $k
		poke i.sgy $((3680 + 256 * $1)) 00 00 00 $2 00 00 00 $3
	done
	poke i.sgy $((3680 + 512)) ff ff fe de 00 00 00 14
	segytoraw i.sgy | rawinfo | grep -x -e 'offset-x:=10 0 -30' -e 'offset-y:=0 20 0' | wc -l | grep -x 2
	segytoraw i.sgy | radon -q 0:.1:3 --qy=0:.1:3 -X 150 --quiet | radon --model --quiet --offsets=<(echo 9 1 0 20 -3 -4) >m
	same <(numbers <m) '1:2:0 2 1:2:0'
	rawtosegy --headers=i.sgy m >m.sgy
	segytoraw m.sgy | rawinfo | grep -x -e 'offset-x:=9 0 -3' -e 'offset-y:=1 20 -4' -e 'offsets:=9 [-0-9]* 5' | wc -l | grep -x 3
	for k in 0 1 2; do tail -c +$((3673 + 256 * k)) m.sgy | head -c 8 | od -An -tx1; done | uniq | xargs | grep -x '00 00 00 0a 00 00 00 14'
	# Where the nearest one has an offset below 0, the new one has too.
	poke i.sgy 3636 ff ff ff f6
	rawtosegy --headers=i.sgy m | segytoraw | rawinfo | grep -x 'offsets:=-9 [-0-9]* -5'
	# Traces with one midpoint keep it: source and group move by half, each its way.
	poke i.sgy 3672 00 00 00 0a 00 00 00 14 00 00 00 6e 00 00 00 14
	poke i.sgy $((3672 + 256)) 00 00 00 32 00 00 00 14 00 00 00 46 00 00 00 14
	rawtosegy --headers=i.sgy m | tail -c +3673 | head -c 16 | od -An -tx1 | xargs | grep -x '00 00 00 0f 00 00 00 0f 00 00 00 69 00 00 00 19'
	fails_later 1 'numbers in offset-x:=, and 3 in offset-y:=' rawtosegy --headers=i.sgy <(sed 's/^offset-x:=9 /&1 /' m)
}

@test "su, segy: traces that are cut in time keep their headers but for ns and delrt" {
	sutoraw line.su | rawaxes --crop=0:1:3 | rawtosu --headers=line.su >cut.su
	sutoraw cut.su | rawinfo | grep -x -e 'sizes: 2 [32]' -e 'axis mins: 0.0040000000000000001 nan' | wc -l | grep -x 4
	for i in 0 1 2 3 4; do poke line.su $((256 * i + 108)) 00 04 00 00 00 00 00 02; done
	cmp <(head -c 240 cut.su) <(head -c 240 line.su)
	poke i.sgy 3500 02
	poke_all i.sgy 3600 214 ff f6
	segytoraw i.sgy | rawaxes --crop=0:2:4 | rawtosegy --headers=i.sgy | segytoraw >got
	rawinfo got | grep -x 'axis mins: 0.0080000000000000002 nan'
	rawaxes --crop=0:2:4 i >want
	diff <(samples got) <(samples want)
}

@test "segy: the dt, the first trace and the trailers of revision 2 are read, and come back; before, such words are nobody's" {
	cp i.sgy two.sgy
	poke two.sgy 3500 02 00
	while read -r double want; do
		poke two.sgy 3272 ${double//,/ } 00 00 00 00 00
		segytoraw two.sgy >r 2>err || same err "segytoraw: two.sgy: bytes 3273 to 3280 say that dt is $want us; give --dt=SECONDS"
		[ -s err ] || rawinfo r | grep -x "spacings: $want nan"
		segytoraw --dt=.004 two.sgy | cmp - <(segytoraw --dt=.004 i.sgy)
	done <<-'END'
		40,29,00 1.2500000000000001e-05
		3f,e0,00 4.9999999999999998e-07
		7f,f8,00 nan
	END
	poke two.sgy 3272 00 00 00
	for number in '00 00 00 01' 'ff ff ff ff'; do
		{
			head -c 3600 two.sgy
			printf 'gap'
			tail -c +3601 two.sgy
			printf '%-3200s' '((SEG: EndText))'
		} >r.sgy
		poke r.sgy 3526 0e 13
		poke r.sgy 3528 $number
		segytoraw r.sgy | cmp - i
		rawtosegy --headers=r.sgy i | cmp - r.sgy
		segytoraw --sort=-offset r.sgy | rawtosegy --headers=r.sgy | cmp - r.sgy
	done
	poke r.sgy 3526 0e 0f
	fails 1 'traces begin at byte 3599: the headers have 3600' segytoraw r.sgy
	for texts in '40 40' '20 20' '00 01' 'ff ff'; do
		poke i.sgy 3500 00 00 00 01 $texts
		segytoraw i.sgy | cmp - i
	done
	poke i.sgy 3500 01 00 00 01 40 40
	fails 1 '16448 further text headers: up to 300 are read' segytoraw i.sgy
}

@test "segy: a format word that is 0, unknown or lies gives way to --format, and samples that do not suit it are named" {
	awk 'BEGIN { srand(1); for (i = 0; i < 400; i++) print exp(-i / 60) * (rand() - .5) }' |
		texttoraw --type=float --sizes=400 | sed 's/^sizes.*/&\nspacings: .004/' >f
	for was in ieee,01,IEEE ibm,05,IBM; do
		IFS=, read -r format wrong name <<<"$was"
		rawtosegy --format=$format f >f.sgy
		remarks '' segytoraw f.sgy >right
		for word in $wrong 00 04; do
			poke f.sgy 3224 00 $word
			segytoraw --format=$format f.sgy 2>err | tail -c 1600 | cmp - <(tail -c 1600 right)
			[ ! -s err ]
		done
		poke f.sgy 3224 00 $wrong
		remarks "segytoraw: f.sgy: the samples seem to be $name floats, though the sample format is ${wrong#0}; see --format" segytoraw f.sgy >r
	done
	poke f.sgy 3224 00 00
	remarks 'segytoraw: f.sgy: the sample format is 0, and is taken for IBM floats; see --format' segytoraw f.sgy >r
	cmp r right
}

@test "su, segy: traces that begin at different times have zeros before and behind, and come back" {
	item float '4 3' 'spacings: .004 nan' 'offsets:=1 2 3' -- {1..12} | rawtosu >n.su
	poke n.su 108 00 04
	poke n.su $((256 + 108)) ff fc
	sutoraw n.su >r
	rawinfo r | grep -x 'axis mins: -0.0040000000000000001 nan'
	same <(samples r | xargs) '0 0 1 2 3 4 5 6 7 8 0 0 0 9 10 11 12 0'
	rawtosu --headers=n.su r | cmp - n.su
	fails_later 1 '5 samples a trace, and n.su has 4' rawtosu --headers=n.su <(rawaxes --crop=0:0:5 r)
	poke n.su $((256 + 108)) 00 07
	hints '^sutoraw: n.su: trace 2: delrt is 7 ms.* the nearest one is taken$' sutoraw n.su >r
	same <(samples r | xargs) '0 1 2 3 4 0 0 0 5 6 7 8 9 10 11 12 0 0'
	rawtosu --headers=n.su r | cmp - n.su
}

@test "segy: text headers of unknown number end with EndText, in ASCII or EBCDIC" {
	poke i.sgy 3504 ff ff
	for end in '((SEG: EndText))' '((seg:ENDTEXT))' 'MM\342\305\307z@\305\225\204\343\205\247\243]]'; do
		{
			head -c 3600 i.sgy
			printf '%-3200s' '((SEG: Location))'
			{ printf "$end"; printf '%3200s' ''; } | head -c 3200
			tail -c +3601 i.sgy
		} >u.sgy
		segytoraw u.sgy | cmp - i
		rawtosegy --headers=u.sgy i | cmp - u.sgy
	done
	fails 1 'no ((SEG: EndText))' segytoraw i.sgy
}

@test "segy: an unknown format, no trace, a truncated trace and another dt are errors" {
	cp i.sgy f.sgy
	poke f.sgy 3224 00 04
	fails 1 'sample format 4 is none of' segytoraw f.sgy
	fails 1 'no trace after the headers' segytoraw <(head -c 3600 i.sgy)
	fails 1 '100 bytes are no SEG-Y file' segytoraw <(head -c 100 i.sgy)
	fails_later 1 'trace 2: truncated: 44 of 256 bytes' segytoraw <(head -c 3900 i.sgy)
	cp i.sgy d.sgy
	poke d.sgy 3216 00 01
	segytoraw d.sgy 2>err | rawinfo | grep -x 'spacings: 9.9999999999999995e-07 nan'
	same err "segytoraw: d.sgy: trace 1: dt is 4000 us, and that of the binary header, 1 us, is taken for all traces, as it says; see --dt"
	poke d.sgy 3502 00 00
	fails 1 'trace 1: dt changes from 1 to 4000 us' segytoraw d.sgy
	segytoraw --dt=.004 d.sgy | cmp - <(segytoraw --dt=.004 i.sgy)
}

@test "su: programs name sutoraw for a file of SU, and segytoraw for one of SEG-Y" {
	rawtosu --endian=little a >little.su
	head -c 256 line.su >one.su
	fail_alike 1 '@: this is SU; type: sutoraw @ | rawinfo' 'rawinfo @' line.su little.su one.su
	fails 1 'i.sgy: this is SEG-Y; type: segytoraw i.sgy | radon' radon -q 0:1:3 -X 3 i.sgy
	fails 1 'i.sgy: this is SEG-Y; convert it with segytoraw' sutoraw i.sgy
	fails 1 'one.su: this is SU; convert it with sutoraw' segytoraw one.su
	fails 1 'rawtosu: a: this is raw, and --headers takes SU' rawtosu --headers=a a
	fails 1 'rawtosegy: one.su: this is SU, and --headers takes SEG-Y' rawtosegy --headers=one.su a
	head -c 250 line.su >cut.su
	fails 1 'unknown format' rawinfo cut.su
}
