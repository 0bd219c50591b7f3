load lib

# pam_of PLANES TYPE SAMPLES: a row of pixels as a PAM, each sample one byte.
pam_of() {
	printf "P7\nWIDTH %d\nHEIGHT 1\nDEPTH $1\nMAXVAL 255\nTUPLTYPE $2\nENDHDR\n" $((($# - 2) / $1))
	shift 2
	printf "$(printf '\\x%02x' "$@")"
}

# bytes N FILE: the last N bytes as numbers.
bytes() {
	tail -c "$1" "$2" | od -An -v -tu1 | xargs
}

# loss A B: the mean of the squared differences of all samples.
loss() {
	rawmath '(a - b)^2' "$1" "$2" | rawinfo | sed -n 's/^mean: //p'
}

@test "a picture in few colours, the same for any threads" {
	{ printf 'P6\n64 128\n255\n' && gen --type=uchar --raw noise 192 128 | tail -c 24576; } >rgb.ppm
	gen --type=ushort --pnm noise 300 200 >deep.pgm
	for k in 1 2 9 64 256; do
		rawpalette -t 1 --colours=$k --labels-to=l.pgm --palette-to=p.txt rgb.ppm >one.ppm
		[ "$(wc -l <p.txt)" -le $k ]
		[ "$(pnmtoplainpnm l.pgm | sed -n 3p)" -le $k ]
		[ "$(tail -c 24576 one.ppm | od -An -v -tx1 -w3 | sort -u | wc -l)" -le $k ]
		for t in 2 7; do
			rawpalette -t $t --colours=$k rgb.ppm | cmp - one.ppm
			rawpalette -t $t --colours=$k deep.pgm | cmp - <(rawpalette -t 1 --colours=$k deep.pgm)
		done
	done
}

@test "a picture of few colours stays as it is; gray levels are cut where that loses least, and the table has a line for each class" {
	printf 'P3 4 1 255 0 0 0 1 0 0 9 9 9 9 9 8\n' | pnmtopnm >four.ppm
	rawpalette --colours=4 four.ppm | cmp - four.ppm
	# Gray levels 10 11 12, 20 21, 50: five, three and one pixels.
	pgm 9 1 255 10 10 11 11 12 20 20 21 50 >l.pgm
	rawpalette --colours=6 l.pgm | cmp - l.pgm
	rawpalette --colours=6 --dither l.pgm | cmp - l.pgm
	rawpalette --colours=3 --stats=s --palette-to=p.txt l.pgm >few.pgm
	[ "$(bytes 9 few.pgm)" = '11 11 11 11 11 20 20 20 50' ]
	lines p.txt '1 5 0.5556 10.8/2 3 0.3333 20.3333/3 1 0.1111 50'
	grep -F '"colours": 6, "classes": 3' s
}

@test "16 bits, and up to four planes of integers" {
	# Of the last, only the fourth plane tells the pixels apart.
	while IFS=: read -r picture k want; do
		same <(printf "$picture\n" | rawpalette --colours="$k" | rawtotext | xargs) "$want"
	done <<-'END'
		P2 5 1 65535 1000 50000 1001 1002 50002:2:1001 50001 1001 1001 50001
		P3 3 1 4095 7 9 4000 9 9 4000 4000 9 7:2:8 9 4000 8 9 4000 4000 9 7
		P7\nWIDTH 3\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nENDHDR\n\1\2\3\4\1\2\3\6ZPF<:2:1 2 3 5 1 2 3 5 90 80 70 60
		P7\nWIDTH 3\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nENDHDR\n\1\2\3\4\1\2\3\6\1\2\3\310:2:1 2 3 5 1 2 3 5 1 2 3 200
	END
}

@test "colours with alpha are compared as they are seen: clear pixels are one colour" {
	pam_of 4 RGB_ALPHA 255 0 0 255 9 9 9 0 200 1 1 0 100 100 100 128 104 100 100 128 >rgba.pam
	rawpalette --colours=3 rgba.pam >three.pam
	same <(sed -n 6p three.pam) 'TUPLTYPE RGB_ALPHA'
	[ "$(bytes 20 three.pam)" = '255 0 0 255 0 0 0 0 0 0 0 0 102 100 100 128 102 100 100 128' ]
	rawpalette --colours=9 rgba.pam | cmp - <(pam_of 4 RGB_ALPHA 255 0 0 255 0 0 0 0 0 0 0 0 100 100 100 128 104 100 100 128)
	pam_of 2 GRAYSCALE_ALPHA 5 0 7 0 5 200 7 200 >gray.pam
	rawpalette --colours=2 gray.pam | cmp - <(pam_of 2 GRAYSCALE_ALPHA 0 0 0 0 6 200 6 200)
}

@test "opaque pixels stay opaque and clear ones clear" {
	# Few opaque pixels lie among many that are nearly opaque; one pixel is clear.
	local i pixels=(90 90 90 255)
	for i in {1..9}; do pixels+=($((80 + i)) 90 90 $((240 + i))); done
	pam_of 4 RGB_ALPHA "${pixels[@]}" 0 0 0 0 >mixed.pam
	for k in 2 3 5; do
		rawpalette --colours=$k mixed.pam >out.pam
		[[ "$(bytes 44 out.pam)" == *' '*' '*' 255 '*' 0 0 0 0' ]]
	done
	# One class for both would be opaque.
	[ "$(bytes 1 <(rawpalette --colours=1 mixed.pam))" = 255 ]
	pam_of 4 RGB_ALPHA 90 0 0 255 9 9 9 0 99 1 1 200 60 0 0 255 10 0 0 100 1 2 3 0 >a.pam
	rawpalette --colours=3 --dither a.pam | tail -c 24 | od -An -v -tu1 -w4 | awk '{print $4}' >alpha
	same <(sed -n '1p;2p;4p;6p' alpha | xargs) '255 0 255 0'
}

@test "colours of pictures that emst has listed: several pictures, and alpha" {
	pam_of 4 RGB_ALPHA 255 0 0 255 9 9 9 0 200 1 1 0 100 100 100 128 104 100 100 128 >rgba.pam
	emst --to=colours rgba.pam >c.nrrd
	grep -ax 'opaque:=255' c.nrrd
	for how in '' --together; do
		rawpalette $how --colours=3 --to=palette c.nrrd | cmp - <(rawpalette --colours=3 --to=palette rgba.pam)
	done
	gen noise 40 30 >a.pgm
	gen noise -s 2 40 20 >b.pgm
	{ printf 'P5\n40 50\n255\n' && tail -c 1200 a.pgm && tail -c 800 b.pgm; } >all.pgm
	rawpalette --colours=5 --to=palette all.pgm >want
	rawpalette --colours=5 --together --to=palette a.pgm b.pgm | cmp - want
	for i in a b; do emst --to=colours $i.pgm; done | rawpalette --colours=5 --together --to=palette | cmp - want
	rawpalette --colours=5 --together --to=labels a.pgm b.pgm | rawtotext | grep . | cmp - <(rawpalette --colours=5 --to=labels all.pgm | rawtotext)
	sed "s,^opaque:=.*,opaque:=0," c.nrrd >zero.nrrd
	fails 1 'opaque:=0: want the alpha of opaque pixels' rawpalette --colours=3 --to=palette zero.nrrd
	pam_of 4 BANDS 1 2 3 4 >bands.pam
	fails 1 'opaque pixels have alpha 0; in the items before 255' rawpalette --together --colours=3 --to=palette rgba.pam bands.pam
	fails 1 '--dither takes pictures' rawpalette --colours=2 --dither c.nrrd
}

@test "--map puts pictures into the colours of a palette or of a picture, with alpha as they are seen" {
	printf 'P2 8 3 9 0 4 4 4 4 4 4 8 0 4 4 4 4 4 4 8 0 4 4 4 4 4 4 8\n' >field.pgm
	rawpalette --colours=2 --palette-to=two field.pgm >few.pgm
	rawpalette --map=two field.pgm | cmp - few.pgm
	rawpalette --map=few.pgm field.pgm | cmp - few.pgm
	rawpalette --map=two --dither field.pgm | cmp - <(rawpalette --colours=2 --dither field.pgm)
	pam_of 4 RGB_ALPHA 255 0 0 255 0 0 255 0 >legend.pam
	pam_of 4 RGB_ALPHA 0 255 0 3 250 9 9 250 7 8 9 0 >in.pam
	lines <(rawpalette --map=legend.pam --to=labels in.pam | rawtotext) '2 1 2'
	fails 1 '--map has 257 colours; --dither takes 256 at most' rawpalette --dither --map=<(
		printf 'P2 257 1 300\n' && seq 0 256) field.pgm
}

@test "--dither keeps the mean of an area, and the table of the colours alone" {
	# A field of level 2 among a third of 0 and a third of 8.
	{ printf 'P5\n32 96\n255\n' && for v in 0 2 10; do head -c 1024 /dev/zero | tr '\0' "\\$v"; done; } >field.pgm
	rawpalette --colours=3 --dither field.pgm | cmp - field.pgm
	# Between the two colours 1 and 8, the field of 2 stays flat without --dither.
	rawpalette --colours=2 --palette-to=want field.pgm >out.pgm
	same <(tail -c 2048 out.pgm | head -c 1024 | od -An -v -tu1 -w1 | sort -u | xargs) 1
	rawpalette --colours=2 --dither --labels-to=l.pgm --palette-to=p.txt field.pgm >out.pgm
	tail -c 2048 out.pgm | head -c 1024 | od -An -v -tu1 -w1 |
		awk '{s += $1} END {m = s / NR; exit !(m > 1.5 && m < 2.2)}'
	same <(tail -c 3072 l.pgm | od -An -v -tu1 -w1 | sort -u | xargs) '1 2'
	cmp p.txt want
	# Pictures of an item are apart.
	gen --type=uchar --raw noise 64 48 >one.nrrd
	cat one.nrrd one.nrrd | rawjoin >two.nrrd
	rawpalette --colours=4 --dither --to=labels one.nrrd | tail -c 3072 >want
	rawpalette --colours=4 --dither --to=labels two.nrrd | tail -c 3072 | cmp - want
}

@test "other types of samples, and more planes than four" {
	# Six planes: only the last one tells the second group from the first.
	item short '6 6 1' 'kinds: vector domain domain' -- 1 2 3 4 5 -600 1 2 3 4 5 -602 \
		1 2 3 4 5 900 1 2 3 4 5 901 -9 -9 -9 -9 -9 0 1 2 3 4 5 902 >bands
	same <(rawpalette --colours=3 --to=labels bands | rawtotext) '2 2 1 1 3 1'
	lines <(rawpalette --colours=3 bands | rawtotext | sed -n '1p;4,5p') '1 2 3 4 5 -601/1 2 3 4 5 901/-9 -9 -9 -9 -9 0'
	same <(rawpalette --colours=3 --to=palette bands | tail -n 1) '3 1 0.1667 -9 -9 -9 -9 -9 0'
	rawpalette --colours=6 bands | rawtotext | cmp - <(rawtotext bands)
	# Neither huge nor tiny samples, nor a plane of one value.
	for by in 1e30 1e-30; do
		same <(rawmath --type=double "a * $by" bands | rawpalette --colours=3 --to=labels | rawtotext) '2 2 1 1 3 1'
		same <(rawmath "a * $by" bands | rawpalette --colours=3 --to=labels | rawtotext) '2 2 1 1 3 1'
	done
	item float '1 3 1' 'kinds: vector domain domain' -- 5 5 5 | rawpalette --colours=2 --to=palette | grep -x '1 3 1.0000 5'
	rawmath 'a < 0 ? nan : a' bands | rawpalette --colours=1 --to=palette | grep -x '0 3 0.5000'
	# A picture of floats loses as much as one of bytes, within 2 %, and so does one that has its planes twice.
	for s in 1 2 3; do gen noise -s $s 200 150 | pgmtoraw >$s.nrrd; done
	printf 'P2 9 9 1 %s\n' "$(yes 1 | head -81 | xargs)" >box.pgm
	rawstack --planes {1,2,3}.nrrd | wconv -k box.pgm --normalise --edge=reflect --type=input >p
	rawmath 'a + .25' p >f
	rawmath --type=int a p >i
	rawstack --planes p p >twice
	for k in 2 5 16 100; do
		rawpalette --colours=$k p >bytes
		for x in f i twice; do
			rawpalette --colours=$k $x >few
			rawpalette --colours=$k --to=palette $x | wc -l | grep -x $k
			awk -v a="$(loss p bytes)" -v b="$(loss $x few)" 'BEGIN { print a, b; exit !(b < 1.02 * a) }'
			for t in 2 5; do rawpalette -t $t --colours=$k $x | rawtotext | cksum; done | uniq | wc -l | grep -x 1
		done
	done
}

@test "pixels without data have no class" {
	item ushort '2 6 1' 'kinds: vector domain domain' nodata:=7 -- 7 7 1 1 1 1 7 7 90 90 90 95 >b
	same <(rawpalette --colours=2 b | rawtotext | xargs) '7 7 1 1 1 1 7 7 90 93 90 93'
	# More pixels than are written at once, some of them without data.
	gen noise 700 500 | pgmtoraw >big
	rawmath --type=uchar 'a < 40 ? 0 : a' big | sed '0,/^encoding/s/^encoding/nodata:=0\nencoding/' >holes
	for t in 1 2; do
		rawpalette -t $t --colours=5 --to=labels holes | rawmath --type=uchar '(l == 0) != (h == 0)' l=- h=holes | rawinfo | grep -x 'max: 0'
		rawpalette -t $t --colours=5 holes | cksum
	done | sort -u | wc -l | grep -x 2
}

@test "what is not taken is refused in one line" {
	pam_of 65 BANDS {1..65} >many.pam
	fails 1 '65 planes; at most 64' rawpalette --colours=2 many.pam
	pam_of 5 BANDS 1 2 3 4 5 >five.pam
	fails 1 '--dither is for pictures of one to four planes of 8 or 16 bits' rawpalette --colours=2 --dither five.pam
	texttoraw <<<'1 2' >point
	fails 1 'a list of points; rawpalette takes pictures and colours' rawpalette --colours=2 point
	gen --type=float --raw values 2x16 $(seq 32) >table
	fails 1 'give --image if this is a gray picture' rawpalette --colours=2 table
	rawpalette --colours=2 --image --to=palette table | wc -l | grep -x 2
	for how in '' '--colours=2 --map=x'; do fails 2 'one of --colours=K and --map=FILE is needed' rawpalette $how many.pam; done
	for k in 0 257; do fails 2 "'$k' is not a whole number in 1..256" rawpalette --colours=$k; done
	fails 2 'give --to=labels or means' rawpalette --colours=2 --dither --to=palette
	fails 2 '--map writes labels and means of each item for itself' rawpalette --map=x --together
	fails 2 'standard output is for --to' rawpalette --colours=2 --labels-to=-
	fails 2 '--pnm: give --to=labels or means' rawpalette --colours=2 --pnm --to=palette
	fails 2 "option '--pal=2' is unknown; is it --palette-to, which writes a file?" emst --pal=2 many.pam
	fail_alike 2 "option '@' is unknown: see rawpalette --colours=K" 'emst @ many.pam' --palette=2 --palette --dither --colours=2 --colors=2 --means=2
}
