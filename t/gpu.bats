load lib

# What this machine can do is asked of --version: `GPU: built without CUDA`, `GPU: CUDA 13.0, no GPU: ..`, or its name.
have_gpu() {
	! morphrec --version | grep -Eq '^GPU: (built without|.*, no GPU:)'
}

# A picture, and each program that has -g as a command on it.
picture() {
	pgm 40 5 255 $(seq 1 200) >f.pgm
	pgm 3 3 4 0 1 0 1 4 1 0 1 0 >k.pgm
}
commands=("morphrec --hdome=20" "emst --to=text" "dptrace -p 2,2 -p 36,2 --quiet" "wconv -k k.pgm" "wconv --method=fft -k k.pgm")

@test "-g where there is no GPU fails, says why, and writes nothing" {
	! have_gpu || skip "there is one"
	picture
	reason=$(morphrec --version | sed -n 's/^GPU: //p')
	for c in "${commands[@]}"; do
		fails 1 "-g: ${reason#CUDA *, }" $c -g f.pgm
		fails 1 "-g: ${reason#CUDA *, }" $c -g -o out f.pgm
		[ ! -e out ]
	done
}

@test "-g gives the bytes that the CPU gives" {
	have_gpu || skip "no GPU here: check holds the kernels to the definitions"
	picture
	for c in "${commands[@]:0:3}" "morphrec --method=heap --hdome=20" "${commands[2]} --method=d3"; do
		${c/--method=d3/} f.pgm >want
		$c -g --stats=s.json f.pgm | cmp - want
		grep -q '"kernel_seconds": [0-9.]*, "copy_seconds": ' s.json
	done
}

@test "wconv -g gives what the CPU gives, rounded to the picture's levels" {
	have_gpu || skip "no GPU here: check holds the kernels to the definition"
	picture
	wconv -k k.pgm --type=input f.pgm >want
	wconv -k k.pgm --type=input -g f.pgm | cmp - want
	wconv -k k.pgm --type=input -g --method=fft f.pgm | cmp - want
}

@test "-g with what the GPU does not do is wrong usage" {
	picture
	fails 2 "-g: goes with the methods tile and heap" morphrec -g --method=scan --hdome=20 f.pgm
	fails 2 "-g: goes with the methods tile and heap" morphrec -g --max-mem=1M -m f.pgm f.pgm
	fails 2 "-g: goes neither with --min-pts nor with --tree" emst -g --min-pts=3 f.pgm
	fails 2 "--method: d3 goes with -g" dptrace -p 2,2 -p 36,2 --method=d3 f.pgm
}

@test "a device that is not there is refused by its number" {
	have_gpu || skip "no GPU here"
	picture
	fails 1 "'99' is not the number of one GPU" morphrec --gpu=99 --hdome=20 f.pgm
	fails 1 "'0,1' is not the number of one GPU" morphrec --gpu=0,1 --hdome=20 f.pgm
}

@test "a program starts, and does its work, on a machine without a driver" {
	! have_gpu || skip "there is one"
	picture
	for c in "${commands[@]}"; do
		$c f.pgm >out
		[ -s out ]
	done
}
