load lib

# rawtile and rawjoin: parts, and wholes again.

@test "parts of even size, row by row, say where they lie" {
	gen ramp 7 5 >a.pgm
	rawtile --grid=3x2 a.pgm >parts
	same <(rawinfo parts | grep -e ^tile -e ^sizes | paste -sd ' \n') 'sizes: 2 2 tile:=0 0 7 5
sizes: 2 2 tile:=2 0 7 5
sizes: 3 2 tile:=4 0 7 5
sizes: 2 3 tile:=0 2 7 5
sizes: 2 3 tile:=2 2 7 5
sizes: 3 3 tile:=4 2 7 5'
}

@test "parts of a given size, and parts that begin where lists say" {
	gen ramp 7 5 >a.pgm
	same <(rawtile --size=4x5 a.pgm | rawinfo | grep sizes) 'sizes: 4 5
sizes: 3 5'
	same <(rawtile --columns=0,1,6 a.pgm | rawinfo | grep sizes) 'sizes: 1 5
sizes: 5 5
sizes: 1 5'
	same <(rawtile --rows=0,4 --only=1 a.pgm | rawinfo | grep -e sizes -e ^tile) 'sizes: 7 1
tile:=0 4 7 5'
}

@test "margins reach as far as there are pixels" {
	pgm 6 1 9 1 2 3 4 5 6 >a.pgm
	same <(rawtile --grid=3x1 --margin=1 a.pgm | rawtotext | grep .) '1 2 3
2 3 4 5
4 5 6'
	same <(rawtile --grid=3x1 --margin=2,0,7,7 a.pgm | rawtotext | grep .) '1 2
1 2 3 4
3 4 5 6'
}

@test "a part of a part says where it lies in the whole" {
	pgm 6 1 9 1 2 3 4 5 6 >a.pgm
	rawtile --grid=2x1 --only=1 a.pgm | rawtile --grid=3x1 --only=2 >part.nrrd
	same <(rawtotext part.nrrd) 6
	grep -ax 'tile:=5 0 6 1' part.nrrd
}

@test "axes keep the positions of their samples, there and back" {
	item float '4 2' 'centers: node node' 'spacings: .5 2' 'axis mins: 10 -1' -- 1 2 3 4 5 6 7 8 >a.nrrd
	rawtile --size=2x1 a.nrrd >parts
	same <(rawinfo parts | grep mins) 'axis mins: 10 -1
axis mins: 11 -1
axis mins: 10 1
axis mins: 11 1'
	rawjoin parts | rawinfo | grep -x 'axis mins: 10 -1'
}

@test "parts in any order make the whole, byte for byte" {
	gen noise 61 47 >a.pgm
	for i in 5 0 3 1 4 2; do rawtile --grid=2x3 --margin=3 --only=$i a.pgm; done | rawjoin --pnm | cmp - a.pgm
}

@test "colours stay together, stacks are cut in every picture" {
	gen --type=float -- values 3x4x2 {1..24} >colour.nrrd
	sed -i 's/^kinds: domain/kinds: RGB-color/' colour.nrrd
	rawtile --grid=2x2 colour.nrrd >parts
	same <(rawinfo parts | grep sizes | uniq) 'sizes: 3 2 1'
	cmp <(rawjoin parts | rawtotext) <(rawtotext colour.nrrd)
	gen --type=float -- values 4x2x3 {1..24} >stack.nrrd
	rawtile --grid=2x2 stack.nrrd >parts
	same <(rawinfo parts | grep sizes | uniq) 'sizes: 2 1 3'
	cmp <(rawjoin parts | rawtotext) <(rawtotext stack.nrrd)
}

@test "every picture of a stream is cut, and put together by itself" {
	gen noise 9 7 >a.pgm
	gen ramp 5 5 >b.pgm
	rawtile --size=4x4 a.pgm b.pgm | rawjoin --pnm | cmp - <(cat a.pgm b.pgm)
}

@test "a convolution part by part is that of the whole, to the byte" {
	gen noise 90 70 --type=float >x.nrrd
	gen kernels 7 3 2 >k.nrrd
	wconv -k k.nrrd --method=direct --edge=reflect x.nrrd >whole.nrrd
	rawtile --grid=3x4 --margin=3 x.nrrd | wconv -k k.nrrd --method=direct --edge=reflect | rawjoin >joined.nrrd
	cmp <(rawtotext whole.nrrd) <(rawtotext joined.nrrd)
}

@test "kernels of even size need one column less before than after" {
	gen noise 40 9 --type=float >x.nrrd
	gen noise 4 4 --type=float >k.nrrd
	wconv -k k.nrrd --method=direct x.nrrd >whole.nrrd
	rawtile --grid=4x2 --margin=1,2,1,2 x.nrrd | wconv -k k.nrrd --method=direct | rawjoin >joined.nrrd
	cmp <(rawtotext whole.nrrd) <(rawtotext joined.nrrd)
}

@test "missing pixels are an error that counts them, or filled" {
	pgm 3 2 9 1 2 3 4 5 6 >a.pgm
	rawtile --size=2x1 --only=2 a.pgm >part
	fails 1 'rawjoin: 4 of 3x2 pixels are in no part, the first at 0,0; see --fill' rawjoin part
	same <(rawjoin --fill=7 part | rawtotext) '7 7 7
4 5 7'
	fails 1 '--fill: 300 is no uchar' rawjoin --fill=300 part
	fails 2 "--fill: '3x' is not a number" rawjoin --fill=3x part
	item float '1 1' 'tile:=1 0 2 1' -- 5 >b.nrrd
	same <(rawjoin --fill=nan b.nrrd | rawtotext) 'nan 5'
}

@test "parts that overlap and differ are an error, or one of them counts" {
	item float '2 1' 'tile:=0 0 3 1' -- 1 2 >a.nrrd
	item float '2 1' 'tile:=1 0 3 1' -- 5 6 >b.nrrd
	fails 1 'b.nrrd: it differs from the part below it, first at 1,0; see --overlap' rawjoin a.nrrd b.nrrd
	same <(rawjoin --overlap=first a.nrrd b.nrrd | rawtotext) '1 2 6'
	same <(rawjoin --overlap=last a.nrrd b.nrrd | rawtotext) '1 5 6'
}

@test "parts of different pictures are not mixed" {
	item float '2 1' 'tile:=0 0 3 1' -- 1 2 >a.nrrd
	item float '2 1' 'tile:=1 0 4 1' -- 5 6 >b.nrrd
	item double '2 1' 'tile:=1 0 3 1' -- 5 6 >c.nrrd
	fails 1 'but the parts before are' rawjoin a.nrrd b.nrrd
	fails 1 'but the parts before are' rawjoin a.nrrd c.nrrd
}

@test "keys that make no sense are refused, and claims beyond memory" {
	for tile in '5 0' '0 0 9 1 1' '-1 0 9 1' '0 0 x 1' '2 0 3 1' '0 0 2 0' '0 1 9 1' '0 0 134217729 1'; do
		item float '2 1' "tile:=$tile" -- 1 2 >a.nrrd
		fails 1 "tile:=$tile" rawjoin a.nrrd
		fails 1 "tile:=$tile" rawtile --grid=1x1 a.nrrd
	done
	item float '2 1' 'tile:=0 0 134217728 134217728' -- 1 2 >a.nrrd
	fails 1 'raise it with --max-bytes' rawjoin a.nrrd
}

@test "wrong cuts are refused by name" {
	pgm 5 1 9 1 2 3 4 5 >a.pgm
	fails 2 'exactly one of' rawtile a.pgm
	fails 2 'exactly one of' rawtile --grid=1x1 --rows=0 a.pgm
	fails 2 "--grid: '2'" rawtile --grid=2 a.pgm
	fails 2 "--grid: '0.5x1' holds a number that is not a whole one" rawtile --grid=0.5x1 a.pgm
	fails 2 "--columns: '1,2' does not begin with 0" rawtile --columns=1,2 a.pgm
	fails 2 "--columns: '0,2,2' does not ascend" rawtile --columns=0,2,2 a.pgm
	fails 2 "--margin: '1,2' has neither" rawtile --grid=1x1 --margin=1,2 a.pgm
	fails 1 '5x1 pixels are too few for these parts' rawtile --grid=6x1 a.pgm
	fails 1 '5x1 pixels are too few for these parts' rawtile --columns=0,5 a.pgm
	fails 1 '--only: it comes in 2 parts' rawtile --grid=2x1 --only=2 a.pgm
}
