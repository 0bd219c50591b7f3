# Loaded by demonstrations: makes head.pgm, a slice of a head by magnetic resonance, 256x256 samples of 16 bits; it is a PGM file
# except for the header. The sample data of Matplotlib have it.
slice=/usr/share/matplotlib/mpl-data/sample_data/s1045.ima.gz
if [ ! -r "$slice" ]; then
	echo "no $slice; make deps installs it (python-matplotlib-data)" >&2
	exit 1
fi
{ printf 'P5\n256 256\n65535\n' && gzip -dc "$slice"; } >head.pgm

# side_by_side NAME PICTURE ...: NAME.png, the pictures from left to right with a grey line between them, for README.md.
side_by_side() {
	local name=$1 picture beside=()
	shift
	command -v pnmtopng >/dev/null || return 0
	for picture; do
		[ ${#beside[@]} -eq 0 ] || beside+=(line.pgm)
		beside+=("$picture")
	done
	pgmmake .6 4 "$(pamfile -machine "$1" | awk '{ print $4 }')" >line.pgm
	pnmcat -quiet -lr "${beside[@]}" | pnmtopng -quiet >"$name.png"
	rm line.pgm
}
