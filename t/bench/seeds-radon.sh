#!/bin/bash
# Matveev, Nikitin, Duchkov and Romanenko 2016: the Radon transform by a two-dimensional USFFT, 13.7 to 13.9 times as fast on 16
# cores as on one, and 2 to 3 times as fast as NFFT.
source "$(dirname "$0")/seeds.bash"
cores=$(nproc)

while read -r nt nx nq; do
	gencmp --traces="$nx" --samples="$nt" >g.nrrd
	echo "radon, $nt samples, $nx traces, $nq curves"
	radon="radon --quiet -q -.3:.6:$nq -X $((nx * 50))"
	interleave -n 5 "chosen=$radon -t $cores g.nrrd >/dev/null" "usfft2d, theirs=$radon --method=usfft2d -t $cores g.nrrd >/dev/null" \
		"chosen, one thread=$radon -t 1 g.nrrd >/dev/null" \
		"usfft2d, one thread=$radon --method=usfft2d -t 1 g.nrrd >/dev/null"
done <<END
512 512 512
2048 512 512
END
{
	printf 'NRRD0005\ntype: double\ndimension: 2\nsizes: 4 1000000\nkinds: list domain\n'
	printf 'endian: little\nencoding: raw\ncolumns:=x y re im\n\n'
	gen --type=double noise 4 1000000 | tail -c 32000000
} >scattered.nrrd
echo 'usfft, type 1, 1000000 points, 1024 x 1024 modes, tolerance 1e-6'
interleave -n 5 "usfft=usfft -T 1 -n 1024,1024 -t $cores scattered.nrrd >/dev/null" \
	"one thread=usfft -T 1 -n 1024,1024 -t 1 scattered.nrrd >/dev/null" \
	"Gaussian window, theirs=usfft -T 1 -n 1024,1024 --window=gauss -t $cores scattered.nrrd >/dev/null"
