load lib

# rawtotext and texttoraw: numbers as text, there and back.

@test "a row of the fastest axis is a line, an empty line parts items" {
	pgm 3 2 9 1 2 3 4 5 6 >a.pgm
	lines <(rawtotext a.pgm a.pgm) '1 2 3/4 5 6//1 2 3/4 5 6'
	same <(rawtotext -s ';' a.pgm | head -n 1) '1;2;3'
}

@test "numbers have the digits they need, 64-bit integers all" {
	item float 6 -- .1 1e30 -3 nan inf 16777217 >a.nrrd
	same <(rawtotext a.nrrd) '0.1 1e+30 -3 nan inf 16777216'
	item double 2 -- .1 .3333333333333333 >a.nrrd
	same <(rawtotext a.nrrd) '0.1 0.3333333333333333'
	same <(rawtotext --digits=3 a.nrrd) '0.1 0.333'
	while IFS=, read -r type numbers want; do
		same <(texttoraw --type="$type" <<<"$numbers" | rawtotext) "$want"
	done <<-'END'
		int64,-9223372036854775808 9007199254740993 9223372036854775807,-9223372036854775808 9007199254740993 9223372036854775807
		int64,-0 +5 2e3,0 5 2000
		uint64,9007199254740993;18446744073709551615,9007199254740993 18446744073709551615
	END
}

@test "random numbers of every type come back bit for bit" {
	for type in char uchar short ushort int uint int64 uint64 float double; do
		gen noise 40 30 --type=$type --raw >a.nrrd
		rawtotext a.nrrd | texttoraw --type=$type --sizes=40,30 >b.nrrd
		cmp <(samples a.nrrd) <(samples b.nrrd)
	done
}

@test "--positions says where samples lie" {
	item float '2 2' 'centers: node none' 'spacings: .5 nan' 'axis mins: 10 nan' -- 1 2 3 4 >a.nrrd
	lines <(rawtotext --positions a.nrrd) '10 0 1/10.5 0 2/10 1 3/10.5 1 4'
	item float '2 3' 'kinds: complex domain' -- 1 2 3 4 5 6 >a.nrrd
	lines <(rawtotext --positions a.nrrd) '0 1 2/1 3 4/2 5 6'
}

@test "a table becomes points, with the names of its columns" {
	printf '# x y\n1 2\n\t3,4 ; # the second\n' | texttoraw --columns='x y' >a.nrrd
	lines <(rawinfo a.nrrd | head -n 8 | tail -n 7) 'type: double/dimension: 2/sizes: 2 2/kinds: list domain/endian: little/encoding: raw/columns:=x y'
	lines <(samples a.nrrd) '1 2/3 4'
}

@test "--header takes the names of the columns from the first line of each file" {
	printf '\357\273\277"x",petal length,, re\r\n1,2,3,4\r\n\r\n5,6,7,8\r\n' >a.csv
	texttoraw --header a.csv >a.nrrd
	lines <(rawinfo a.nrrd | grep ^columns) 'columns:=x petal_length _ re/columns:=x petal_length _ re'
	lines <(rawtotext a.nrrd) '1 2 3 4//5 6 7 8'
	printf 'x  y\n1 2\n' >b
	same <(texttoraw --header a.csv b | rawinfo | grep ^columns | tail -n 1) 'columns:=x y'
	texttoraw --header --columns='u v' b | rawinfo | grep -x 'columns:=u v'
	fails 2 'exclude each other' texttoraw --header --sizes=2 b
}

@test "--select takes columns by name or number, beside any text" {
	printf '%s\n' 'id,lon,"lat, deg",pop,' '"Smith, ""J""",1.5,2,30' '# none' 'New York,-74, 40.7 ,,' 'x y,3,"4",5,' >t.csv
	lines <(texttoraw --header --select=pop,lon t.csv | rawtotext --header) 'pop lon/30 1.5/nan -74/5 3'
	lines <(texttoraw --header --select=3 t.csv | rawtotext --header) 'lat,_deg/2/40.7/4'
	lines <(printf 'a  1 2\nb 3 4 \n' | texttoraw --select=3,2 --type=uchar | rawtotext) '2 1/4 3'
	lines <(printf 'a 1 2\n\nb 3 4\n' | texttoraw --columns=n,x,y --select=y | rawtotext --header) 'y/2//4'
	fails 1 't.csv: line 2: --select: z is none of 4 columns' texttoraw --header --select=z t.csv
	for n in 0 5 1.5; do fails 1 "--select: $n is none of 4 columns" texttoraw --header --select=$n t.csv; done
	fails 1 "line 2: 'Smith' is not a number" texttoraw --header --select=id t.csv
	fails 1 'line 2: 3 columns, but 2 in the lines before' texttoraw --select=1 <<<$'1 2\n1 2 3'
	fails 1 'line 2: 3 columns, but 2 names' texttoraw --header --select=a <<<$'a,b\n1,2,3'
	fails 2 'no column is named' texttoraw --select=, t.csv
	fails 2 'exclude each other' texttoraw --select=1 --sizes=2 t.csv
}

@test "a field without a character is NaN, and so is NA, and keeps the columns in their places" {
	lines <(printf '1,,3\n4,,6\n , 5 ; 6,\n;;7\n' | texttoraw | rawtotext) '1 nan 3/4 nan 6/nan 5 6/nan nan 7'
	lines <(printf '1 NA\nNA,3\n' | texttoraw | rawtotext) '1 nan/nan 3'
	same <(printf '\357\273\2771 2\n' | texttoraw | rawtotext) '1 2'
}

@test "a table comes out when its empty line has arrived; empty lines part items, comments do not" {
	printf '1 2\n3 4\n\n' >table
	texttoraw table >want
	one_by_one table want texttoraw
	lines <(printf '\n\n1 2\n# a comment\n3 4\n\n\n5\n6\n' | texttoraw | rawinfo | grep sizes) 'sizes: 2 2/sizes: 1 2'
}

@test "--sizes is an array, however its lines break" {
	lines <(printf '1 2 3\n4\n5 6\n' | texttoraw --sizes=2,3 --type=float | rawtotext) '1 2/3 4/5 6'
	fails 2 "--sizes: '0,3'" texttoraw --sizes=0,3
	fails 2 "--sizes: '1.5'" texttoraw --sizes=1.5
}

@test "what is no table, no number, no text or no sample of the type is refused by line" {
	# TEXT|OPTION|MESSAGE
	while IFS='|' read -r text option message; do
		printf -- "$text" >bad
		fails 1 "bad: ${message}" texttoraw $option bad
	done <<-'END'
		1 2\n3\n||line 2: 1 numbers, but 2 in the lines before
		1 2\n3 4x\n||line 2: '4x' is not a number
		1\0002\n||line 1: a zero byte: this is no text
		||empty input
		x  y\n1 2\n||line 1: 'x' is not a number; see --header
		1 NAN 2x\n||line 1: '2x' is not a number
		x,y,z\n1,2\n|--header|line 2: 2 numbers, but the header has 3 names
		x\n|--header|empty input
		1 2\n|--columns=x|line 1: 2 numbers, but --columns has 1 name
		1 2 3|--sizes=2,3|line 1: 3 numbers do not make the sizes 2,3
		1 2 3|--sizes=4294967296,4294967296|line 1: 3 numbers do not make the sizes 4294967296,4294967296
		7 256|--type=uchar|number 2 of the item that ends in line 1, 256, is no uchar
		7 -1|--type=uchar|number 2 of the item that ends in line 1, -1, is no uchar
		7 1.5|--type=uchar|number 2 of the item that ends in line 1, 1.5, is no uchar
		7 nan|--type=uchar|number 2 of the item that ends in line 1, nan, is no uchar
		1,,3|--type=uchar|line 1: an empty field is no uchar
		1 NA|--type=int|line 1: NA is no int
		1e39|--type=float|number 1 of the item that ends in line 1, 1e+39, is no float
		9223372036854775808|--type=int64|line 1: 9223372036854775808 is no int64
		-9223372036854775809|--type=int64|line 1: -9223372036854775809 is no int64
		1.5|--type=int64|line 1: 1.5 is no int64
		1e19|--type=int64|line 1: 1e19 is no int64
		nan|--type=int64|line 1: nan is no int64
		1,,3|--type=int64|line 1: an empty field is no int64
		7 18446744073709551616|--type=uint64|line 1: 18446744073709551616 is no uint64
		7 -1|--type=uint64|line 1: -1 is no uint64
		7 8x|--type=int64|line 1: '8x' is not a number
	END
	run -1 texttoraw <(printf '1 NAN 2x\n')
	[[ $output != *header* ]]
	fails 1 'absent: No such file' texttoraw absent
	fails 1 'raise the limit with --max-bytes' texttoraw --max-bytes=400 <(seq 100)
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
	rawtotext --header -s , a >b.csv
	lines b.csv 'x,y/1,2/3,4'
	texttoraw --header b.csv | rawtotext --header -s '\t' | cmp - <(tr , '\t' <b.csv)
	fails 1 '--header: columns:= has 0 names, and a line 2 numbers' rawtotext --header <(texttoraw numbers)
	fails 2 'exclude each other' rawtotext --header --positions a
}
