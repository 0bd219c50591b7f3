load lib

# What this machine can do is asked of --version: `GPU: built without CUDA`, `GPU: CUDA 13.0, no GPU: ..`, or its name.
have_gpu() {
	! morphrec --version | grep -Eq '^GPU: (built without|.*, no GPU:)'
}

picture() {
	pgm 40 5 255 $(seq 1 200) >f.pgm
}

@test "-g where there is no GPU fails, says why, and writes nothing" {
	! have_gpu || skip "there is one"
	picture
	for program in morphrec; do
		reason=$($program --version | sed -n 's/^GPU: //p')
		fails 1 "-g: ${reason#CUDA *, }" $program -g --hdome=20 f.pgm
	done
}

@test "-g gives the bytes that the CPU gives" {
	have_gpu || skip "no GPU here: check holds the kernels to the definition"
	picture
	for method in tile heap; do
		morphrec --hdome=20 f.pgm >want.pgm
		morphrec --hdome=20 -g --method=$method --stats=s.json f.pgm | cmp - want.pgm
		grep -q '"kernel_seconds": [0-9.]*, "copy_seconds": ' s.json
	done
}

@test "-g with a method that the GPU does not have is wrong usage" {
	picture
	fails 2 "-g: goes with the methods tile and heap" morphrec -g --method=scan --hdome=20 f.pgm
	fails 2 "-g: goes with the methods tile and heap" morphrec -g --max-mem=1M -m f.pgm f.pgm
}

@test "a device that is not there is refused by its number" {
	have_gpu || skip "no GPU here"
	picture
	fails 1 "'99' is not the number of one GPU" morphrec --gpu=99 --hdome=20 f.pgm
	fails 1 "'0,1' is not the number of one GPU" morphrec --gpu=0,1 --hdome=20 f.pgm
}
