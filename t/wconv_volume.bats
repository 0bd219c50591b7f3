load lib

# volume TYPE SIZES < samples: an item of three axes or more.
volume() {
	texttoraw --type="$1" --sizes="$2"
}

# gives TEXT ARG ...: wconv of x.nrrd prints these samples, rounded.
gives() {
	local want=$1
	shift
	wconv "$@" x.nrrd | rawtotext | awk '{ for (i = 1; i <= NF; i++) printf("%.3f ", $i < .0004 ? 0 : $i) }' >got
	diff <(awk '{ for (i = 1; i <= NF; i++) printf("%.3f ", $i) }' <<<"$want") got
}

# A kernel along z: 1 2 4.
prepare() {
	echo 1 2 4 | volume float 1,1,3 >k.nrrd
}

@test "a point leaves the kernel along z, turned by --correlate" {
	echo 0 0 1 0 0 | volume uchar 1,1,5 >x.nrrd
	gives '0 1 2 4 0' -k k.nrrd
	gives '0 4 2 1 0' -k k.nrrd --correlate
	gives '0 4 2 1 0' -k k.nrrd --adjoint
	gives '0 1 4 16 0' -k k.nrrd --variance
	gives '0 .142857 .285714 .571429 0' -k k.nrrd --normalise
}

@test "edges along z; a kernel of three axes is scipy's, and a box of eight sums eight" {
	echo 1 2 3 | volume float 1,1,3 >x.nrrd
	gives '4 11 14' -k k.nrrd
	gives '8 11 17' -k k.nrrd --edge=nearest
	gives '8 11 17' -k k.nrrd --edge=reflect
	gives '12 11 16' -k k.nrrd --edge=mirror
	gives '16 11 15' -k k.nrrd --edge=wrap
	seq 8 | volume float 2,2,2 >x.nrrd
	gives '36 20 22 12 26 14 15 8' -k <(printf '1 %.0s' 1 2 3 4 5 6 7 8 | volume float 2,2,2)
}

@test "volumes in a file one after the other, and volumes of colours" {
	{ echo 0 1 0 | volume float 1,1,3 && echo 2 0 0 | volume float 1,1,3; } >x.nrrd
	gives '1 2 4 4 8 0' -k k.nrrd
	echo 0 1 0 2 0 0 | volume float 1,1,3,2 >x.nrrd
	gives '1 2 4 4 8 0' -k k.nrrd
	gives '4 2 1 4 2 0' -k k.nrrd --correlate
	printf '%s\n' NRRD0004 'type: uchar' 'dimension: 4' 'sizes: 3 1 1 2' \
		'kinds: RGB-color domain domain domain' 'encoding: raw' '' >x.nrrd
	printf '\1\0\2\0\3\0' >>x.nrrd
	gives '2 3 4 4 6 8' -k k.nrrd
}

@test "--deconvolve finds the point that a volume's kernel blurred" {
	{ printf '0 %.0s' {1..62} && echo 100 && printf '0 %.0s' {1..62}; } | volume float 5,5,5 >p.nrrd
	printf '1 2 1 2 4 2 1 2 1 2 4 2 4 8 4 2 4 2 1 2 1 2 4 2 1 2 1' | volume float 3,3,3 >k.nrrd
	wconv -k k.nrrd --normalise p.nrrd >x.nrrd
	for edge in zero renormalise; do
		for way in --correlate --adjoint; do
			wconv -k k.nrrd --normalise --edge=$edge $way --deconvolve=300 x.nrrd >y.nrrd
			rawmath 'abs(y - p) > 1' y=y.nrrd p=p.nrrd | rawtotext | grep -q 1 && return 1
		done
	done
	wconv -k k.nrrd --normalise --damp=0 --deconvolve=60 x.nrrd >y.nrrd
	rawmath 'abs(y - p) > .1' y=y.nrrd p=p.nrrd | rawtotext | grep -q 1 && return 1
	wconv -v -k k.nrrd --deconvolve=2 x.nrrd 2>&1 >y.nrrd | grep -q 'a kernel of 3x3x3'
}

@test "a truncated volume, one that is not finite, and what kernels of three axes do not go with are refused" {
	echo 1 nan 3 | volume float 1,1,3 >x.nrrd
	fails 1 'sample at 0,0,1 is not finite' wconv -k k.nrrd x.nrrd
	gives '2 7 6' -k k.nrrd --nan=zero
	head -c -4 x.nrrd >short.nrrd
	fails 1 'ends after' wconv -k k.nrrd short.nrrd
	fails 1 'sums overflow' wconv -k k.nrrd <(echo 3e38 3e38 3e38 | volume float 1,1,3)
	echo 1 2 3 | volume float 1,1,3 >x.nrrd
	fails 2 '--method=direct' wconv -k k.nrrd --method=direct x.nrrd
	fails 2 '--part' wconv -k k.nrrd --part=1/2 x.nrrd
	fails 2 '--edge=renormalise' wconv -k k.nrrd --edge=renormalise x.nrrd
	fails 2 '--nan=interpolate with --variance' wconv -k k.nrrd --nan=interpolate --variance x.nrrd
	fails 1 'a grid has four' wconv -k k.nrrd --place=corner x.nrrd
	fails 1 'needs a volume' wconv -k k.nrrd <(echo 1 2 3 | volume float 3,1)
	fails 1 'its sum is 0' wconv -k <(echo 1 0 -1 | volume float 1,1,3) --normalise x.nrrd
}

@test "samples that are not finite are filled in by the others that the kernel sees; beyond the sides are zeros" {
	echo 1 nan 3 | volume float 1,1,3 >x.nrrd
	gives '2.333 9.8 14' -k k.nrrd --nan=interpolate
	gives '.333 1.4 2' -k k.nrrd --nan=interpolate --normalise --double
	fails 1 'cannot be filled in: the kernel' wconv -k <(echo 1 0 -1 | volume float 1,1,3) --nan=interpolate x.nrrd
	echo nan nan inf 1 | volume float 1,1,4 >x.nrrd
	same <(wconv --box=1,1,3 --nan=interpolate x.nrrd | rawmath 'round(a)' | rawtotext | xargs) 'nan nan 1 1'
}

@test "results of the type of the volume are rounded and clipped, each plane on its own" {
	for type in 'signed char' uchar short ushort int uint int64 uint64; do
		echo 10 100 50 | volume "$type" 1,1,3 >x.nrrd
		gives '17 41 71' -k k.nrrd --type=input --normalise
		wconv -k k.nrrd --type=input x.nrrd | rawinfo | grep -x "type: $type"
	done
	echo 0 -100 100 | volume char 1,1,3 >x.nrrd
	same <(wconv -k k.nrrd --type=input x.nrrd | rawtotext | xargs) '-100 -100 -128'
	echo 1 2 10 20 100 200 | volume uchar 2,1,1,3 | sed 's/^kinds.*/kinds: vector domain domain domain/' >x.nrrd
	gives '12 24 124 248 240 255' -k k.nrrd --type=input
	echo 9007199254740993 | volume int64 1,1,1 >x.nrrd
	fails 1 'takes integers below 2^53' wconv -k k.nrrd --type=input x.nrrd
}

@test "a kernel along z takes no channels and no frames for slices" {
	for c in '"x" "y" "c" "z"' '"x" "y" "t" "z"'; do
		echo 1 10 2 20 3 30 | volume float 1,1,2,3 | sed "s/^encoding/labels: $c\n&/" >x.nrrd
		fails 1 'not z: rawaxes --order' wconv -k k.nrrd x.nrrd
		rawaxes --order=0,1,3,2 x.nrrd | wconv -k k.nrrd | rawaxes --order=0,1,3,2 >y.nrrd
		rawtotext y.nrrd | awk '{ for (i = 1; i <= NF; i++) printf("%.0f ", $i) }' >got
		echo -n '4 40 11 110 14 140 ' | diff - got
	done
	echo 1 2 3 | volume float 1,1,3 | sed 's/^kinds.*/kinds: domain domain list/' >x.nrrd
	fails 1 "axis 2 is \`list' and not z" wconv -k k.nrrd x.nrrd
}
