# Loaded by demonstrations: makes head.pgm, a slice of a head by magnetic resonance, 256x256 samples of 16 bits; it is a PGM file
# except for the header. The sample data of Matplotlib have it.
slice=/usr/share/matplotlib/mpl-data/sample_data/s1045.ima.gz
if [ ! -r "$slice" ]; then
	echo "no $slice; make deps installs it (python-matplotlib-data)" >&2
	exit 1
fi
{ printf 'P5\n256 256\n65535\n' && gzip -dc "$slice"; } >head.pgm

source "$(dirname "${BASH_SOURCE[0]}")/beside.bash"
