load lib

# Colours with their numbers of pixels, points with counts, and several pictures together.

# strips: a picture of 240 pixels, and the same pixels as three pictures. A plane has few levels, so many colours are equal.
strips() {
	gen --type=uchar --raw noise 24 30 >n.nrrd
	tail -c 720 n.nrrd | tr '\000-\377' '[\001*64][\002*64][\100*64][\104*64]' >px
	{ printf 'P6\n8 30\n255\n' && cat px; } >all.ppm
	{ printf 'P6\n8 11\n255\n' && head -c 264 px; } >a.ppm
	{ printf 'P6\n8 1\n255\n' && tail -c +265 px | head -c 24; } >b.ppm
	{ printf 'P6\n8 18\n255\n' && tail -c 432 px; } >c.ppm
}

@test "colours are listed with their pixels, in order" {
	printf 'P3 5 1 255 9 9 9 0 0 1 9 9 9 0 0 0 9 9 9\n' | emst --to=colours >c.nrrd
	grep -ax 'columns:=r g b count' c.nrrd
	grep -ax 'colours:=uchar' c.nrrd
	same <(rawtotext c.nrrd) '0 0 0 1
0 0 1 1
9 9 9 3'
	same <(printf 'P2 4 1 255 7 7 2 7\n' | emst --to=colours | rawtotext) '2 1
7 3'
	printf 'P2 4 1 65535 700 700 2 700\n' | emst --to=colours >wide.nrrd
	grep -ax 'columns:=gray count place' wide.nrrd
	same <(rawtotext wide.nrrd) '700 3 0
2 1 2'
}

@test "the colours of several pictures give what one picture of all pixels gives" {
	strips
	for how in --to=tree --to=linkage --to=colours; do
		emst "$how" all.ppm | rawtotext >want
		emst --together "$how" a.ppm b.ppm c.ppm | rawtotext | cmp - want
		for i in a b c; do emst --to=colours $i.ppm; done | emst --together "$how" | rawtotext | cmp - want
		{ emst --together --to=colours a.ppm b.ppm && emst --to=colours c.ppm; } |
			emst --together "$how" -t 2 | rawtotext | cmp - want
	done
	for how in '-m 9' '-k 3' '-k 3 --genie' --distance=1 --functional=.1 --min-pts=4; do
		emst --to=palette $how all.ppm >want
		emst --together --to=palette $how a.ppm b.ppm c.ppm | cmp - want
		for i in c b a; do emst --to=colours $i.ppm; done | emst --together --to=palette $how | cmp - want
		emst --together --to=colours a.ppm b.ppm c.ppm | emst --to=palette $how | cmp - want
	done
	emst --together a.ppm b.ppm c.ppm >t.nrrd
	emst --together --to=text a.ppm b.ppm c.ppm >want
	emst --together --tree t.nrrd --to=text c.ppm a.ppm b.ppm | cmp - want
}

@test "colours that are numbered by place keep their numbers" {
	for type in ushort float; do
		gen --type=$type --raw values 2x3x6 1 7  5 5  1 7  3 3  5 5  9 9  3 3  1 8  1 7  9 2  5 5  6 1 \
			1 7  1 7  0 0  5 5  3 3  8 8 | sed 's/^kinds: .*/kinds: vector domain domain/' >all.nrrd
		grep -aq '^kinds: vector' all.nrrd ||
			sed -i 's/^encoding: raw$/kinds: vector domain domain\nencoding: raw/' all.nrrd
		rawtile --size=3x2 all.nrrd >tiles.nrrd
		for how in --to=text '--to=palette -m 2'; do
			read -ra how <<<"$how"
			emst "${how[@]}" all.nrrd >want
			emst --quiet --together "${how[@]}" tiles.nrrd | cmp - want
			emst --quiet --to=colours tiles.nrrd | emst --together "${how[@]}" | cmp - want
			emst --quiet --to=colours all.nrrd | emst "${how[@]}" | cmp - want
		done
	done
}

@test "rows of a list of colours get labels and means" {
	printf 'P3 5 1 255 9 9 9 0 0 1 9 9 9 0 0 0 9 9 7\n' | emst --to=colours >c.nrrd
	same <(emst -m 2 --to=labels c.nrrd | rawtotext) '2 2 1 1'
	emst -m 2 --to=means c.nrrd >m.nrrd
	[ "$(grep -ac '^columns\|^colours' m.nrrd)" -eq 0 ]
	grep -ax 'type: uchar' m.nrrd
	same <(rawtotext m.nrrd) '0 0 1
0 0 1
9 9 8
9 9 8'
}

@test "points with counts weigh what their copies weigh" {
	printf '0 0 1\n1 0 3\n9 9 2\n9 8 2\n1 0 1\n' | texttoraw --columns='x y count' >c.nrrd
	gen --type=float values 2x9 0 0 1 0 1 0 1 0 9 9 9 9 9 8 9 8 1 0 >p.nrrd
	for how in -m\ 4 --min-pts=4 '-k 2 --genie'; do
		emst --points --to=palette $how p.nrrd >want
		emst --to=palette $how c.nrrd | cmp - want
	done
	same <(emst --to=text c.nrrd) '1 4 0
0 1 1
2 3 1
1 3 11.3137085'
}

@test "counts above 2^32 stay exact" {
	printf '0 3000000000000\n1 1\n10 5000000000\n12 5000000000\n' | texttoraw --columns='x count' >c.nrrd
	same <(emst -m 2147483647 --to=palette c.nrrd) '1 3000000000001 0.9967 3.33333e-13
2 5000000000 0.0017 10
3 5000000000 0.0017 12'
	same <(emst --genie -k 2 --to=palette c.nrrd) '1 3000000000001 0.9967 3.33333e-13
2 10000000000 0.0033 11'
	printf 'P2 2 1 255 7 2\n' | emst --to=colours >one
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do
		cat one one one one | emst --together --to=colours >four
		mv four one
	done
	same <(rawtotext one) '2 17179869184
7 17179869184'
	grep -ax 'type: double' one
	same <(emst -k 1 --to=palette one) '1 34359738368 1.0000 4.5'
}

@test "lists of colours that cannot be are refused" {
	list() {
		texttoraw --columns="$1" | sed "s/^columns:=/colours:=$2\ncolumns:=/"
	}
	fails 1 'row 1: want a count' emst --to=text <(printf '1 2\n2 0\n' | texttoraw --columns='x count')
	fails 1 'row 0: want a count' emst --to=text <(printf '1 2.5\n' | texttoraw --columns='x count')
	fails 1 'row 0: want a count' emst --to=text <(printf '1 nan\n' | texttoraw --columns='x count')
	fails 1 'row 1: want a count' emst --to=text <(printf '1 70368744177663\n3 1\n' | texttoraw --columns='x count')
	fails 1 'coordinate 0 of point 0 is not finite' emst --to=text <(printf 'nan 2\n' | texttoraw --columns='x count')
	fails 1 '1 columns: want the samples too' emst --to=text <(printf '1\n2\n' | texttoraw --columns=count)
	fails 1 'row 0 has a sample that is no uchar' emst --to=text <(printf '256 1\n' | list 'gray count' uchar)
	fails 1 'row 0 has a sample that is no uchar' emst --to=text <(printf '.5 1\n' | list 'gray count' uchar)
	fails 1 'does not end in count place' emst --to=text <(printf '5 1\n' | list 'gray count' ushort)
	fails 1 'row 1: want a place' emst --to=text <(printf '5 1 3\n6 1 3\n' | list 'gray count place' ushort)
	fails 1 'row 0: want a place' emst --to=text <(printf '5 1 -3\n' | list 'gray count place' ushort)
	fails 1 'colours:=word is not a type' emst --to=text <(printf '5 1\n' | list 'gray count' word)
	fails 1 'columns:= does not end in count' emst --to=text <(printf '5 1\n' | list 'gray n' uchar)
	printf '5 1\n6 1\n' | texttoraw --columns='gray count' >c.nrrd
	fails 1 'a list of points; --to=colours takes' emst --to=colours c.nrrd
	fails 1 'a list of points; --together takes' emst --together c.nrrd
	head -c -3 c.nrrd >short.nrrd
	run -1 emst --to=text short.nrrd
	printf 'P2 2 1 255 1 2\n' >g.pgm
	printf 'P3 1 1 255 1 2 3\n' >c.ppm
	fails 1 'the items before have 1 of uchar' emst --together g.pgm c.ppm
	: >empty
	fails 1 'empty input' emst --together empty
}
