# Loaded by demonstrations: where real data are, and figures of panels with titles, axes and scale bars, which netpbm draws.

# data FILE: where it is: in the directory WEIR_REAL, or where Debian has the samples of scikit-image, of R's package stars and of
# Matplotlib. t/demo/data names their licences.
data() {
	local from
	for from in ${WEIR_REAL:+"$WEIR_REAL"} /usr/lib/python3/dist-packages/skimage/data /usr/lib/R/site-library/stars/tif \
		/usr/share/matplotlib/mpl-data/sample_data; do
		[ ! -r "$from/$1" ] || { echo "$from/$1" && return; }
	done
	return 1
}

# letters HEIGHT TEXT: black on white. They are drawn four times as large with a thick pen.
letters() {
	local size=$(($1 * 4)) strokes=() dx dy
	for dx in {-5..5}; do
		for dy in {-5..5}; do
			[ $((dx * dx + dy * dy)) -gt 30 ] || strokes+=(-x $((size + dx)) -y $((size * 3 / 2 + dy)) -text "$2")
		done
	done
	ppmmake -quiet white $((size * (${#2} + 2))) $((size * 2)) |
		ppmlabel -quiet -colour black -background transparent -size "$size" "${strokes[@]}" | ppmtopgm -quiet |
		pnmcrop -quiet -left -right | pnmpad -quiet -white -left $((size / 3)) -right $((size / 3)) | pamscale -quiet .25
}

# width FILE, height FILE.
width() {
	pamfile -machine "$1" | awk '{ print $4 }'
}
height() {
	pamfile -machine "$1" | awk '{ print $5 }'
}

# put X Y TEXT FILE: FILE with the text around that place, in letters 22 high.
put() {
	local w h left most
	w=$(width "$4") h=$(height "$4")
	letters 22 "$3" >letters.pgm
	left=$(($1 - $(width letters.pgm) / 2)) most=$((w - $(width letters.pgm)))
	pnmpad -quiet -white -left $((left < 0 ? 0 : left > most ? most : left)) -top $(($2 - 22)) -width "$w" -height "$h" letters.pgm |
		pamarith -minimum - "$4"
	rm letters.pgm
}

# rings FILE: the picture with red rings; stdin has the column, the row and the radius of each.
rings() {
	awk '{ print "setcolor red;"; for (r = 0; r < 3; r += .5) printf "circle %d %d %d;\n", $1, $2, $3 + r }' >script
	pgmtoppm -quiet white "$1" | ppmdraw -scriptfile=script
	rm script
}

# panel TITLE FILE: the picture under its title.
panel() {
	pnmcat -quiet -tb -white -jcenter <(letters 24 "$1") "$2"
}

# scale_bar PIXELS TEXT FILE: the picture with a bar of that length on white in its lower left corner.
scale_bar() {
	letters 22 "$2" >letters.pgm
	pbmmake -black "$1" 8 | pnmpad -white -left 14 -right 14 -bottom 14 | pnmcat -quiet -tb -white letters.pgm - >bar.pgm
	pnmpaste -quiet bar.pgm 12 $(($(height "$3") - $(height bar.pgm) - 12)) "$3"
	rm letters.pgm bar.pgm
}

# ticks FROM TO STEP PIXELS: a line for each tick: where it is, and its number.
ticks() {
	awk -v a="$1" -v b="$2" -v step="$3" -v n="$4" 'BEGIN { for (k = 0; (v = a + k * step) <= b + step / 9; k++) printf "%d %g\n", (v - a) / (b - a) * (n - 1), sprintf("%.3f", v) }'
}

# axes FILE X FROM TO STEP [Y FROM TO STEP]: the picture in a frame with an axis below, called X, and one to its left, called Y.
axes() {
	local w h left=36 top=22 at v
	w=$(width "$1") h=$(height "$1")
	[ $# -lt 6 ] || left=88
	# label X Y TEXT: a text on the picture so far.
	label() {
		put "$@" axes.ppm >put.ppm && mv put.ppm axes.ppm
	}
	{
		echo 'setcolor black;'
		ticks "$3" "$4" "$5" "$w" | awk -v x="$left" -v y=$((top + h)) '{ print "filledrectangle", x + $1 - 1, y, 3, 12, ";" }'
		[ $# -lt 6 ] || ticks "$7" "$8" "$9" "$h" | awk -v x="$left" -v y=$top '{ print "filledrectangle", x - 12, y + $1 - 1, 12, 3, ";" }'
	} >script
	pnmpad -quiet -black -left 3 -top 3 -bottom 3 -right 3 "$1" |
		pnmpad -quiet -white -left $((left - 3)) -top $((top - 3)) -bottom 85 -right 12 | ppmdraw -scriptfile=script >axes.ppm
	while read -r at v; do
		label $((left + at)) $((top + h + 32)) "$v"
	done < <(ticks "$3" "$4" "$5" "$w")
	label $((left + w / 2)) $((top + h + 66)) "$2"
	if [ $# -ge 6 ]; then
		while read -r at v; do
			label 58 $((top + at)) "$v"
		done < <(ticks "$7" "$8" "$9" "$h")
		letters 22 "$6" | pamflip -ccw >letters.pgm
		pnmpaste -quiet letters.pgm 0 $((top + (h - $(height letters.pgm)) / 2)) axes.ppm >put.ppm && mv put.ppm axes.ppm
		rm letters.pgm
	fi
	cat axes.ppm
	rm axes.ppm script
}

# figure NAME PICTURE ...: NAME.png, the pictures from left to right.
figure() {
	local name=$1 picture beside=()
	shift
	pgmmake 1 16 9 >gap.pgm
	for picture; do
		[ ${#beside[@]} -eq 0 ] || beside+=(gap.pgm)
		beside+=("$picture")
	done
	pnmcat -quiet -lr -white -jtop "${beside[@]}" | rawpalette --pnm --colours="${COLOURS-256}" | pnmtopng -quiet -compression=9 >"$name.png"
	rm gap.pgm
}
