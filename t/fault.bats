load lib

# Every request of a program fails in turn: for memory, to write, to read, to map a file, to close, to rename, for a
# thread. A program then says why it fails and leaves nothing behind, or does without and writes the same bytes. See
# t/fault.c.

prepare() {
	! sanitized || skip "the sanitizer has an allocator of its own"
	[[ $(ldd "$B/rawinfo") != *libomp* ]] || skip "libomp of clang waits for itself when it finds no memory"
	gen kernels 3 2 2 >kernel.nrrd
	export TMPDIR=$PWD
	gen --type=double values 2x3 0 0 .1 .2 .3 .4 >points.nrrd
	gen --type=double values 3 1 2 4 >three
	gen noise 16 12 >image
	echo '1 1 1 5' >palette
	echo '{"type":"LineString","coordinates":[[2,2],[12,9]]}' >lines.json
}

# libtiff 4.5 follows a null pointer when it finds no memory for a directory, WCSLIB 7.12 does so for distortions, and FFTW ends the
# process. Their own requests for memory are spared.
export FAULT_SPARE='libtiff libfftw3 libwcs'

# ends_well KIND INPUT PROGRAM...: complains of each run that ends badly; once to standard output, once by -o. A program that fails
# undisturbed has no faults to tell of, so its name is written too.
ends_well() {
	fault "$@" >log || complain "$@" "$(<log)"
	fault -o result "$@" -o result >log || complain "$@" "$(<log)"
}

# each KIND: over all programs, on a small input.
each() {
	while read -r input command; do
		[ -n "$input" ] || continue
		[ -e "$input" ] || skip "no $input"
		ends_well "$1" "$input" $command
	done <<<"$commands"
}

commands='
image pgmtoraw
image rawtopnm --maxval=9 -t 2
image rawinfo
image rawinfo --json
image rawinfo --robust --histogram
image rawtotext
image rawtile --size=8x8
tiles rawjoin
tiles rawjoin --overlap=sum
tiles rawjoin --max-mem=20
map rawjoin --map --max-mem=20
share rawjoin
numbers texttoraw
image skeleton -G 2
image wconv -t 2 -k kernel.nrrd
image wconv -t 2 --gaussian=1 --variance
image wconv -t 2 -k kernel.nrrd --adjoint
image wconv -t 2 -k kernel.nrrd --deconvolve=2
image wconv -t 2 -k kernel.nrrd --deconvolve=2 --damp=.1
stars psfmatch -t 2 --size=3 --degree=0 - stars
stars psfmatch -t 2 --size=3 --degree=0 --subtract - stars
stars psfmatch -t 2 --size=3 --degree=0 --subtract --noise=noise - stars
wide psfmatch -t 2 --quiet --size=5 --degree=0 --subtract - stars
image morphrec -t 2 --hmax=3
image morphrec -t 2 --hmax=3 --max-mem=100
image morphrec -t 2 --hmax=3 --seam=seam --part=0/1
stack morphrec --regmax --part=1/2
image wconv -t 2 -k kernel.nrrd --part=0/2
image emst -t 2 --to=labels --distance=3
image emst --to=tree --method=brute
image emst -t 2 --together --to=palette
image emst -t 2 --map=image --to=means
image rawpalette -t 2 --map=palette
image rawpalette -t 2 --colours=9
bands rawpalette -t 2 --colours=3
image rawpalette --colours=9 --dither
image emst -t 2 --neighbours=8 --scale=9
image dptrace -t 2 --quiet --to=wkt -p -.5,-.5 -p .5,.5
image dptrace -t 2 --quiet --score=edge --objective=cost --to=wkt -p -.5,-.5 -p .5,.5
image dptrace -t 2 --quiet --to=wkt -f lines.json
image dptrace -t 2 --quiet --objective=cost --to=wkt -p 1,1 -p 14,1
image usfft -t 2 -T 2 -p points.nrrd
three usfft -t 2 --quiet -T 2 --inverse --tv=.01 --coils=auto --iter=7 -n 3,2 -p points.nrrd
fits fitstoraw
short fitstoraw
image rawtofits
image rawtotiff
rgb rawtopng
png pngtoraw
tiff tifftoraw
gather rawtosu
su sutoraw
gather rawtosegy
segy segytoraw
image rawaxes --flip=0
image rawlabel
image rawlabel --to=csv
image rawlabel --split=3
image rawlabel --fill-holes --split=1 --by=distance
sky rawlabel --map --to=csv
image rawlabel --markers=image
image rawlabel --labels --drop=border
image rawlabel --above=otsu --grow=2
image rawlabel --shape --to=csv
image rawlabel --to=geojson
image rawlabel --above=otsu
sky rawphot --at=places --radius=2 --annulus=3,5 --noise=image --labels=image
image rawdist -t 2
image rawback -t 2 --quiet --box=5 --mask=image --rms=rms
image rawwarp -t 2 --like=image
sky rawwarp -t 2 --like=sky --flux
image rawstack
image rawstack --combine=median
image rawstack --combine=sum
image rawstack --combine=max
image rawstack --split
image rawstack --planes
image rawstack --split --planes
image rawtonpy
image rawmath -t 2 a*2
gather radon -t 2 --quiet -q -.1:.1:5 -X 40
gather radon -t 2 --quiet -q 0:.1:5 -X 40 --curve=hyperbolic --sparse --subtract
gather radon -t 2 --quiet -q -.1:.1:5 -X 40 --lsq --subtract --adapt
gather radon -t 2 --quiet -q -.1:.1:5 -X 40 --sparse=auto
gathers radon -t 2 --quiet -q -.1:.1:5 -X 40
gather rawnmo -t 2 --quiet --velocity=velocities
'

@test "every program has a line in the table" {
	for program in "$B"/*; do
		[ -x "$program" ] && [ ! -d "$program" ] && [ "${program##*/}" != weir ] || continue
		grep -qE "^[a-z]+ ${program##*/}( |\$)" <<<"$commands" || complain "no line for ${program##*/}"
	done
}

inputs() {
	rawtile --size=8x8 image >tiles
	pgmtoraw image | sed '/^encoding/i geotransform:=500 10 0 900 0 -10' | rawtile --size=8x8 >map
	printf '1 2\n3 4\n' >numbers
	printf 'x,y,label\n3,4,1\n' >places
	rawtofits image >fits
	head -c 5000 fits >short
	fitstoraw fits | sed '0,/^fits.NAXIS:/s//fits.CTYPE1:='"'RA---ARC'\nfits.CTYPE2:='DEC--ARC'"'\n&/' >sky
	rawtotiff --compress=deflate image >tiff
	rawstack --planes --pnm image image image >rgb
	rawtopng image >png
	rawstack image image >stack
	rawstack --planes image image image image image | rawmath "a > 200 ? nan : a" >bands
	wconv -k kernel.nrrd --part=0/1 image >share
	gen --type=float stars 90 80 40 >stars
	gen values 3x3 1 2 1 2 4 2 1 2 1 >blur.nrrd
	wconv -k blur.nrrd --normalise --edge=nearest stars | wconv -k blur.nrrd --normalise --edge=nearest >wide
	gen --type=float noise 32 5 | sed '/^endian/i spacings: 0.004 10\naxis mins: 0 0\ncenters: node node' >gather
	for _ in {1..11}; do cat gather; done >gathers
	rawtosu gather >su
	echo 1 0:1500 >velocities
	rawtosegy gather >segy
}

@test "a program that finds no memory says so, or does without" {
	inputs
	each memory
}

@test "FFTW that finds no memory leaves no part of a result" {
	FAULT_SPARE=
	ends_well memory image wconv -k kernel.nrrd
}

# Calls of the system fail under ptrace(2), which some containers forbid. Single bytes that are read and written change nothing.
@test "a program says so, or does without, when it fails to map, write, read, start a thread, close or rename; single bytes do" {
	fault rename image true || skip "processes cannot be traced here"
	inputs
	for kind in mmap write short read thread close rename; do each $kind; done
}
