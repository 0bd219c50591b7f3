load lib

# stack LABELS KINDS SIZES SAMPLE ...: an item of 3 columns, 1 row and these further sizes.
stack() {
	item uchar "3 1 $3" "labels: \"x\" \"y\" $1" "kinds: domain domain $2" -- "${@:4}"
}

# gives RESULT COMMAND ...: the command writes these samples, rounded.
gives() {
	same <("${@:2}" | rawmath 'round(a)' | rawtotext | xargs) "$1"
}

# in_each COMMAND: the command gets a program with options, samples of two slices, and the results for a volume and for pictures.
in_each() {
	"$1" rawlabel '1 0 0 0 0 1' '1 0 0 0 0 2' '1 0 0 0 0 1'
	"$1" rawdist '1 1 1 0 0 0' '1 1 1 0 0 0' 'inf inf inf 0 0 0'
	"$1" 'morphrec --area=2' '1 0 0 1 0 0' '1 0 0 1 0 0' '0 0 0 0 0 0'
	"$1" 'wconv --box=3' '3 3 3 0 0 0' '2 2 2 1 1 1' '3 3 3 0 0 0'
}

# shellcheck disable=SC2086 # the arguments are words
takes() {
	local axis option want
	while read -r axis option want; do
		stack "\"${axis%,*}\"" "${axis#*,}" 2 $2 >a
		case $want in
		volume) gives "$3" $1 ${option#none} a ;;
		pictures) gives "$4" $1 ${option#none} a ;;
		*) fails 1 "axis 2 is \`$want' and not z: rawaxes --order brings z there" $1 $option a ;;
		esac || { echo "$1: $axis $option" && return 1; }
	done <<-END
		z,domain none volume
		Z,space --volume volume
		z,domain --slices pictures
		,domain none pictures
		n,domain --volume volume
		t,domain none pictures
		t,domain --volume t
		c,domain --volume c
		,list none pictures
	END
}

@test "an axis called z is depth, options say otherwise, and channels and frames are never slices" {
	in_each takes
}

# shellcheck disable=SC2086
loops() {
	stack '"z" "c" "t"' 'domain list time' '2 2 2' $2 $2 $2 $2 >a
	gives "$3 $3 $3 $3" $1 a
	gives "$4 $4 $4 $4" $1 --slices a
	stack '"c" "z"' 'list domain' '2 2' $2 $2 >a
	hints "a: axis 2 is \`c', and z is axis 3, so pictures are taken one by one" $1 a a >b
	remarks '' $1 --slices a >b
}

@test "further axes are looped over, and z behind channels is told of" {
	in_each loops
}

@test "a table for each volume; outlines are those of slices" {
	stack '"z" "c"' 'domain list' '2 2' 1 0 0 0 0 1 1 0 0 1 0 0 >a
	same <(rawlabel --to=csv a a | awk -F, '{ print $1, $2, $NF }' | paste -sd ,) 'label size item,1 1 0,2 1 0,1 2 1,1 1 2,2 1 2,1 2 3'
	rawlabel --to=table a | rawinfo | grep -c '^sizes: 29 ' | grep -x 2
	fails 1 'outlines are those of pictures' rawlabel --to=wkt a
	rawlabel --slices --to=wkt a | wc -l | grep -x 4
}

@test "numbers of neighbours say volume or slices, and so do a ball and the sizes of a kernel" {
	stack '"z"' domain 2 1 0 0 0 1 0 >a
	gives '1 0 0 0 2 0' rawlabel -c 6 a
	gives '0 0 0 0 0 0' morphrec --area=2 -c 4 a
	sed 's/"z"/"n"/' a >n
	gives '1 1 0 1 1 1' morphrec --dilate --shape=ball n
	all_fail <<-END
		2|--connectivity=8: goes with pictures, not --volume|rawlabel -c 8 --volume a
		2|--connectivity=6: goes with volumes, not --slices|morphrec --area=2 -c 6 --slices a
		2|--gaussian: volumes take one size or three|wconv --gaussian=1,2 --volume a
		2|--volume and --slices go with|wconv -k a --slices a
		2|--method=direct does not go with a kernel of three axes; --slices takes pictures|wconv --box=3 --method=direct a
	END
}

@test "a Gaussian in units is as wide along each axis as its spacing says, whatever items stand before" {
	gen --type=float noise 30 200 | rawaxes --split=1:10 >a
	sed 's/^labels.*//; s/^spacings.*//; s/^encoding/spacings: 1 .5 2\nunits: "um" "um" "um"\nlabels: "" "" "z"\n&/' a >z
	gen --type=float noise 40 30 | sed 's/^encoding/spacings: 2 2\nunits: "um" "um"\n&/' >p
	wconv --gaussian=2um z p z | rawtotext >all
	{ wconv --gaussian=2,4,1 z && wconv --gaussian=1,1 p && wconv --gaussian=2,4,1 z; } | rawtotext | cmp - all
	wconv --gaussian=2 z | rawtotext | cmp - <(wconv --gaussian=2,2,2 z | rawtotext)
}
