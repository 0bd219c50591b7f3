load lib

# rawtotext and texttoraw: numbers as text, there and back.

@test "a row of the fastest axis is a line, an empty line parts items" {
	pgm 3 2 9 1 2 3 4 5 6 >a.pgm
	same <(rawtotext a.pgm a.pgm) '1 2 3
4 5 6

1 2 3
4 5 6'
	same <(rawtotext -s ';' a.pgm | head -n 1) '1;2;3'
}

@test "numbers have the digits they need" {
	item float 6 -- .1 1e30 -3 nan inf 16777217 >a.nrrd
	same <(rawtotext a.nrrd) '0.1 1e+30 -3 nan inf 16777216'
	item double 2 -- .1 .3333333333333333 >a.nrrd
	same <(rawtotext a.nrrd) '0.1 0.3333333333333333'
	same <(rawtotext --digits=3 a.nrrd) '0.1 0.333'
}

@test "64-bit integers keep all digits" {
	gen --type=int64 -- values 1x1 0 >a.nrrd
	{ head -c -8 a.nrrd && printf '\1\0\0\0\0\0\0\200'; } >b.nrrd
	same <(rawtotext b.nrrd) -9223372036854775807
}

@test "64-bit integers come back from text" {
	for numbers in '-9223372036854775808 9007199254740993 9223372036854775807' '-0 +5 2e3'; do
		same <(texttoraw --type=int64 <<<"$numbers" | rawtotext) "$(sed 's/-0 +5 2e3/0 5 2000/' <<<"$numbers")"
	done
	same <(echo 9007199254740993,18446744073709551615 | texttoraw --type=uint64 | rawtotext) '9007199254740993 18446744073709551615'
}

@test "random numbers of every type come back bit for bit" {
	for type in char uchar short ushort int uint int64 uint64 float double; do
		gen noise 40 30 --type=$type --raw >a.nrrd
		rawtotext a.nrrd | texttoraw --type=$type --sizes=40,30 >b.nrrd
		cmp <(samples a.nrrd) <(samples b.nrrd)
	done
}

@test "--map says where samples lie on the map" {
	item short '2 2' 'geotransform:=1000 10 0 2000 0 -10' -- 1 2 3 4 >a.nrrd
	same <(rawtotext --positions --map a.nrrd) '1005 1995 1
1015 1995 2
1005 1985 3
1015 1985 4'
	same <(rawaxes --flip=1 a.nrrd | rawtotext --positions --map | tail -n 1) '1015 1995 2'
	item short '2 2 1 2' 'kinds: vector domain domain domain' 'geotransform:=100 3 4 500 4 -3' -- 1 2 3 4 5 6 7 8 >b.nrrd
	same <(rawtotext --positions --map -s , b.nrrd) '103.5,500.5,0,1,2
106.5,504.5,0,3,4
103.5,500.5,1,5,6
106.5,504.5,1,7,8'
	same <(item float 2 'geotransform:=1000 10 0 2000 0 -10' -- 1 nan | rawtotext --positions --map) '1005 1995 1
1015 1995 nan'
	fails 2 '--map goes with --positions' rawtotext --map a.nrrd
	fails 1 'it has no geotransform:=' rawtotext --positions --map <(item short 1 -- 1)
}

@test "--positions says where samples lie" {
	item float '2 2' 'centers: node none' 'spacings: .5 nan' 'axis mins: 10 nan' -- 1 2 3 4 >a.nrrd
	same <(rawtotext --positions a.nrrd) '10 0 1
10.5 0 2
10 1 3
10.5 1 4'
	item float '2 3' 'kinds: complex domain' -- 1 2 3 4 5 6 >a.nrrd
	same <(rawtotext --positions a.nrrd) '0 1 2
1 3 4
2 5 6'
}

@test "a table becomes points, with the names of its columns" {
	printf '# x y\n1 2\n\t3,4 ; # the second\n' | texttoraw --columns='x y' >a.nrrd
	same <(rawinfo a.nrrd | head -n 8 | tail -n 7) 'type: double
dimension: 2
sizes: 2 2
kinds: list domain
endian: little
encoding: raw
columns:=x y'
	same <(samples a.nrrd) '1 2
3 4'
}

@test "--header takes the names of the columns from the first line of each file" {
	printf '\357\273\277"x",petal length,, re\r\n1,2,3,4\r\n\r\n5,6,7,8\r\n' >a.csv
	texttoraw --header a.csv >a.nrrd
	same <(rawinfo a.nrrd | grep ^columns) 'columns:=x petal_length _ re
columns:=x petal_length _ re'
	same <(rawtotext a.nrrd) '1 2 3 4

5 6 7 8'
	printf 'x  y\n1 2\n' >b
	same <(texttoraw --header a.csv b | rawinfo | grep ^columns | tail -n 1) 'columns:=x y'
	texttoraw --header --columns='u v' b | rawinfo | grep -x 'columns:=u v'
	fails 1 "b: line 1: 'x' is not a number; see --header" texttoraw b
	printf 'x,y,z\n1,2\n' >bad
	fails 1 'bad: line 2: 2 numbers, but the header has 3 names' texttoraw --header bad
	echo x >bad
	fails 1 'bad: empty input' texttoraw --header bad
	fails 2 'exclude each other' texttoraw --header --sizes=2 b
}

@test "a field without a character is NaN, and keeps the columns in their places" {
	same <(printf '1,,3\n4,,6\n , 5 ; 6,\n;;7\n' | texttoraw | rawtotext) '1 nan 3
4 nan 6
nan 5 6
nan nan 7'
	echo '1,,3' >bad
	fails 1 'bad: line 1: an empty field is no uchar' texttoraw --type=uchar bad
	fails 1 'bad: line 1: an empty field is no int64' texttoraw --type=int64 bad
	same <(printf '\357\273\2771 2\n' | texttoraw | rawtotext) '1 2'
}

@test "a table comes out when its empty line has arrived" {
	mkfifo in out
	timeout 60 texttoraw <in >out &
	exec 7>in 8<out
	for _ in 1 2; do
		printf '1 2\n3 4\n' | texttoraw >want
		printf '1 2\n3 4\n\n' >&7
		head -c "$(stat -c %s want)" <&8 | cmp - want
	done
	exec 7>&- 8<&-
	wait $!
}

@test "empty lines part items, comments do not" {
	printf '\n\n1 2\n# a comment\n3 4\n\n\n5\n6\n' | texttoraw | rawinfo | grep sizes >sizes
	same sizes 'sizes: 2 2
sizes: 1 2'
}

@test "--sizes is an array, however its lines break" {
	printf '1 2 3\n4\n5 6\n' | texttoraw --sizes=2,3 --type=float | rawtotext >out
	same out '1 2
3 4
5 6'
	printf '1 2 3' >numbers
	fails 1 '3 numbers do not make the sizes 2,3' texttoraw --sizes=2,3 numbers
	fails 1 '3 numbers do not make the sizes 4294967296,4294967296' texttoraw --sizes=4294967296,4294967296 numbers
	fails 2 "--sizes: '0,3'" texttoraw --sizes=0,3 numbers
	fails 2 "--sizes: '1.5'" texttoraw --sizes=1.5 numbers
}

@test "what is no table, no number or no text is refused by line" {
	printf '1 2\n3\n' >bad
	fails 1 'bad: line 2: 1 numbers, but 2 in the lines before' texttoraw bad
	printf '1 2\n3 4x\n' >bad
	fails 1 "bad: line 2: '4x' is not a number" texttoraw bad
	printf '1\0002\n' >bad
	fails 1 'bad: line 1: a zero byte: this is no text' texttoraw bad
	: >bad
	fails 1 'bad: empty input' texttoraw bad
	fails 1 'absent: No such file' texttoraw absent
}

@test "a number that the type has not is refused" {
	for number in 256 -1 1.5 nan; do
		echo "7 $number" >bad
		fails 1 "number 2 of the item that ends in line 1, $number, is no uchar" texttoraw --type=uchar bad
	done
	echo 1e39 >bad
	fails 1 'is no float' texttoraw --type=float bad
	for number in 9223372036854775808 -9223372036854775809 1.5 1e19 nan; do
		echo "$number" >bad
		fails 1 "bad: line 1: $number is no int64" texttoraw --type=int64 bad
	done
	for number in 18446744073709551616 -1 99999999999999999999; do
		echo "7 $number" >bad
		fails 1 "bad: line 1: $number is no uint64" texttoraw --type=uint64 bad
	done
	echo 7 8x >bad
	fails 1 "bad: line 1: '8x' is not a number" texttoraw --type=int64 bad
}

@test "more numbers than --max-bytes holds are refused" {
	seq 100 >many
	fails 1 'raise the limit with --max-bytes' texttoraw --max-bytes=400 many
}

@test "a full disk and a closed output are failures" {
	fails 1 'No space left' bash -c 'seq 9 | texttoraw >/dev/full'
	fails 1 'Bad file descriptor' bash -c 'seq 9 | texttoraw >&-'
	fails 2 'can be read once' texttoraw - -
}

@test "names of columns come with commas or blanks, and go out again" {
	printf '1 2\n3 4\n' >numbers
	texttoraw --columns=x,y numbers | tee a | rawinfo | grep -x 'columns:=x y'
	texttoraw --columns='x y' numbers | rawinfo | grep -x 'columns:=x y'
	fails 1 'numbers: line 2: 2 numbers, but --columns has 1 name' texttoraw --columns=x numbers
	rawtotext --header -s , a >b.csv
	same b.csv 'x,y
1,2
3,4'
	texttoraw --header b.csv | rawtotext --header -s '\t' | cmp - <(tr , '\t' <b.csv)
	fails 1 '--header: columns:= has 0 names, and a line 2 numbers' rawtotext --header <(texttoraw numbers)
	fails 2 'exclude each other' rawtotext --header --positions a
}

@test "NA is NaN, and --header is advised where a line begins with a name" {
	same <(printf '1 NA\nNA,3\n' | texttoraw | rawtotext) '1 nan
nan 3'
	printf '1 NA\n' >na
	fails 1 'na: line 1: NA is no int' texttoraw --type=int na
	printf '1 NAN 2x\n' >x
	fails 1 "line 1: '2x' is not a number" texttoraw x
	run -1 grep header stderr
	printf 'a 1\n' >x
	fails 1 "line 1: 'a' is not a number; see --header" texttoraw x
}
