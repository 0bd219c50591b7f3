load lib

# What a newcomer tries first: `weir`, the command that ends each --help, and words of other programs.

@test "the command that ends the --help of every program runs without a word" {
	rawmath --sizes=64,48 --type=uchar --pnm '(x % 16 - 8)^2 + (y % 16 - 8)^2 < 20 ? 150 : 20 + x' >coins.pgm
	rawmath '100 + 1000 * exp(-((x % 23.3 - 11)^2 + (y % 29.7 - 14)^2) / 3)' --sizes=200,180 >reference.pgm
	pgm 3 3 4 1 2 1 2 4 2 1 2 1 >psf.pgm
	wconv -k psf.pgm --normalise --edge=nearest reference.pgm >new.pgm
	rawstack --planes --pnm coins.pgm coins.pgm coins.pgm >photo.ppm
	rawmath --sizes=64,48 --type=uchar --pnm 'abs(y - 20 - x / 2) < 1.5 ? 200 : 20' >map.pgm
	for file in a b c; do cp coins.pgm $file.pgm; done
	rawmath 'a / 3' coins.pgm >picture.nrrd
	rawmath 'a / 5' coins.pgm >stars.nrrd
	printf 'x,y\n30,20\n' >places.csv
	printf 'x,y,re,im\n.1,.2,1,0\n-.3,.1,2,0\n' >points.csv
	texttoraw --header points.csv >samples.nrrd
	[ ! -e "$B/rawtofits" ] || rawtofits coins.pgm >m31.fits
	[ ! -e "$B/rawtopng" ] || rawtopng coins.pgm >photo.png
	[ ! -e "$B/rawtotiff" ] || rawtotiff coins.pgm coins.pgm >stack.tif
	gencmp >gather.nrrd
	rawtosu gather.nrrd >gather.su
	rawtosegy gather.nrrd >gather.sgy
	printf 'x,y\n.1,.2\n-.3,.1\n.2,.4\n' | texttoraw --header | rawtonpy >places.npy
	echo 1 2 3 | texttoraw --type=float | rawmath a - | rawtonpy >values.npy
	for program in $(weir | awk '/^  / { print $1 }'); do
		example=$("$program" --help | tail -n 1)
		[[ $example == *"$program "* ]]
		bash -e -o pipefail -c "$example" >out 2>err || { echo "$example" && cat err && false; }
		[ ! -s err ] || { echo "$example" && cat err && false; }
	done
	sed -n '/^tasks()/,/END$/s/^\t\t\([^\t]*\)\t..*/\1/p' "$B/weir" >tasks
	[ "$(wc -l <tasks)" -gt 40 ]
	while read -r task; do
		bash -e -o pipefail -c "$task" >out 2>err || { echo "$task" && cat err && false; }
		[ ! -s err ] || { echo "$task" && cat err && false; }
	done <tasks
}

@test "weir lists every program, runs one, and finds options and the words of others" {
	for program in "$B"/*; do
		[ ! -f "$program" ] || [ ! -x "$program" ] || basename "$program"
	done | sort | diff - <(weir | awk '/^  / { print $1 }' | sort -u)
	weir help errors fits | grep '^weir sources ' 
	pgm 2 1 9 3 4 >a.pgm
	[ "$(weir rawtotext a.pgm)" = '3 4' ]
	weir help min-area rawlabel | grep -x '  rawlabel --min-area          is --min-size'
	[ "$(weir help --threads | grep -c -- ' --threads ')" -eq 1 ]
	weir help normalise | diff - <(weir search normalize)
	weir help gradient | grep '^  morphrec --gradient '
	weir help chosen sample | sed 1q | grep '^rawdist '
	weir help count objects | sed 1q | same - 'type: rawlabel --above=otsu --to=csv coins.pgm >coins.csv'
	weir help gaussian_filter xyzzy | sed 1q | grep '^type: wconv --gaussian=3 '
	fails 2 "weir: 'blur' is no program; type: wconv --gaussian=3 " weir blur photo.ppm
	fails 2 "weir: 'frob' is no program; weir lists them, weir help frob searches" weir frob
	fails 2 "weir: help: nothing has 'xyzzy'" weir help xyzzy
	run -2 weir rawinfo --frobnicate
	ln -s "$B/rawdist" w-rawdist
	ln -s "$B/weir" w-weir
	./w-weir rawdist --help | cmp - <(rawdist --help)
}

@test "a word of another program is our option where it means the same, or is answered" {
	pgm 3 2 9 1 5 9 0 7 8 >a.pgm
	while IFS='|' read -r ours theirs; do
		$ours a.pgm >want
		$theirs a.pgm | cmp - want
	done <<-'END'
		rawlabel --above=4 --min-size=2|rawlabel --threshold=4 --min-area 2
		rawaxes --order=1,0|rawaxes --transpose
		rawmath --type=uchar min(a,4)|rawmath --type=uint8 minimum(a,4)
		rawstack --combine=max a.pgm|rawstack --max a.pgm
		rawstack --combine=mean a.pgm|rawstack --average a.pgm
		rawmath --type=uchar a|rawmath --dtype=uint8 a
		wconv -k a.pgm --edge=nearest|wconv --psf a.pgm --mode=nearest
		morphrec --open=1|morphrec --opening=1
	END
	rawaxes --output=b.pgm a.pgm
	cmp a.pgm b.pgm
	rawmath --type=float64 a a.pgm | grep -ax 'type: double'
	echo 1 2 3 4 5 6 | texttoraw --shape=3x2 --type=int16 | rawinfo | sed -n '/^type\|^sizes/p' | same - $'type: short\nsizes: 3 2'
	fails 2 "option '--count' is unknown: the greatest label is the number" rawlabel --count a.pgm
	fails 2 "option '--above' needs an argument" rawlabel --threshold
	fails 2 "option '--thresholds=3' is unknown; see rawlabel --help, or weir help thresholds" rawlabel --thresholds=3 a.pgm
	run -1 grep threshold <(rawlabel --help)
	rawlabel --threshold=4 a.pgm | grep -a 'history:=rawlabel --above=4$'
}
