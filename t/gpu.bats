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
commands=("morphrec --hdome=20" "emst --to=text" "wconv -k k.pgm")

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
	for c in "${commands[@]:0:2}" "morphrec --method=heap --hdome=20" "emst --method=brute --to=text"; do
		${c/--method=brute/--method=fast} f.pgm >want
		$c -g --stats=s.json f.pgm | cmp - want
		grep -q '"kernel_seconds": [0-9.]*, "copy_seconds": ' s.json
	done
}

@test "wconv -g gives what the CPU gives, rounded to the picture's levels" {
	have_gpu || skip "no GPU here: check holds the kernels to the definition"
	picture
	wconv -k k.pgm --type=input f.pgm >want
	wconv -k k.pgm --type=input -g f.pgm | cmp - want
}

@test "-g with what the GPU does not do is wrong usage" {
	picture
	fails 2 "-g: goes with the methods tile and heap" morphrec -g --method=scan --hdome=20 f.pgm
	fails 2 "-g: goes with the methods tile and heap" morphrec -g --max-mem=1M -m f.pgm f.pgm
	fails 2 "-g: goes neither with --min-pts nor with --tree" emst -g --min-pts=3 f.pgm
	fails 2 "--method=brute goes with -g" emst --method=brute f.pgm
	fails 2 "-g: goes without --method=fft" wconv -g -k k.pgm --method=fft f.pgm
}

@test "a device that is not there is refused by its number" {
	have_gpu || skip "no GPU here"
	picture
	fails 1 "'99': GPUs have the numbers 0 to" morphrec --gpu=99 --hdome=20 f.pgm
	fails 1 "'0,99': GPUs have the numbers 0 to" morphrec --gpu=0,99 --hdome=20 f.pgm
	fails 1 "'0,0' names GPU 0 twice" morphrec --gpu=0,0 --hdome=20 f.pgm
}

@test "a list of devices is wrong usage where the work does not split" {
	picture
	fails 2 "-g: '0,1' is a list, and emst runs on one GPU" emst --gpu=0,1 f.pgm
	fails 2 "-g: '0,1' is a list, and wconv runs on one GPU" wconv --gpu=0,1 -k k.pgm f.pgm
}

@test "several devices give the bytes that the CPU gives" {
	have_gpu || skip "no GPU here: check holds the kernels to the definitions"
	picture
	! morphrec --gpu=1 --hdome=20 f.pgm 2>&1 | grep -aq 'numbers 0 to 0' || skip "there is one GPU only"
	morphrec --hdome=20 f.pgm >want
	morphrec --gpu=0,1 --hdome=20 f.pgm | cmp - want
}

@test "a program starts, and does its work, on a machine without a driver" {
	! have_gpu || skip "there is one"
	picture
	for c in "${commands[@]}"; do
		$c f.pgm >out
		[ -s out ]
	done
}
