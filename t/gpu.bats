load lib

# What this machine can do is asked of --version: `GPU: built without CUDA`, `GPU: CUDA 13.0, no GPU: ..`, or its name.
have_gpu() {
	! morphrec --version | grep -Eq '^GPU: (built without|.*, no GPU:)'
}

# A picture, and each program that has -g as a command on it.
picture() {
	pgm 40 5 255 $(seq 1 200) >f.pgm
	pgm 3 3 4 0 1 0 1 4 1 0 1 0 >k.pgm
	item float '3 4' 'kinds: list domain' 'columns:=x re im' -- 0 0 0 0 0 0 0 0 0 0 0 0 >points.nrrd
	# shellcheck disable=SC2046 # words
	item float '8 3' 'spacings: 0.004 100' 'centers: node node' 'axis mins: 0 0' -- $(yes 0 | head -n 24) >gather.nrrd
}
commands=("morphrec --hdome=20 f.pgm" "emst --to=text f.pgm" "dptrace -p 2,2 -p 36,2 --quiet f.pgm" "wconv -k k.pgm f.pgm"
	"wconv --method=fft -k k.pgm f.pgm" "wconv --adjoint -k k.pgm f.pgm" "usfft -T 1 -n 8 points.nrrd" "radon -q 0:0.01:4 -X 300 gather.nrrd"
	"usfft -T 3 --targets=points.nrrd points.nrrd" "usfft -T 2 --inverse -n 2 points.nrrd"
	"usfft -T 1 -n 8 --weights=pipe points.nrrd" "wconv --deconvolve=2 -k k.pgm f.pgm")

@test "-g where there is no GPU fails, says why, and writes nothing" {
	! have_gpu || skip "there is one"
	picture
	reason=$(morphrec --version | sed -n 's/^GPU: //p')
	for c in "${commands[@]}"; do
		fails 1 "-g: ${reason#CUDA *, }" $c -g
		fails 1 "-g: ${reason#CUDA *, }" $c -g -o out
		[ ! -e out ]
	done
}

@test "-g gives the bytes that the CPU gives, on one device and on several" {
	have_gpu || skip "no GPU here: check holds the kernels to the definitions"
	picture
	for c in "${commands[@]:0:3}" "${commands[1]} --method=brute" \
		"${commands[2]} --method=d3" "wconv -k k.pgm --type=input f.pgm"; do
		${c/--method=[bd]*/} >want
		$c -g --stats=s.json | cmp - want
		grep -q '"kernel_seconds": [0-9.]*, "copy_seconds": ' s.json
	done
	! morphrec --gpu=1 --hdome=20 f.pgm 2>&1 | grep -aq 'numbers 0 to 0' || skip "there is one GPU only"
	for c in "${commands[0]}" "${commands[2]}" "${commands[@]:3:2}" "${commands[6]}"; do
		$c -g >want
		$c --gpu=0,1 | cmp - want
	done
}

@test "-g with what the GPU does not do, a list of devices where the work does not split, or a device that is not there, is refused" {
	picture
	all_fail <<-END
		2|-g: goes without --max-mem|morphrec -g --max-mem=1M -m f.pgm f.pgm
		2|-g: --method=heap runs on the CPU alone|morphrec -g --method=heap --hdome=20 f.pgm
		2|-g: goes neither with --min-pts nor with --tree|emst -g --min-pts=3 f.pgm
		2|-g: goes without --sparse|radon -g -q 0:0.01:4 -X 300 --sparse=0.1 gather.nrrd
		2|-g: goes without --sparse|radon -g -q 0:0.01:4 -X 300 --method=time gather.nrrd
		2|-g: goes without --sparse|radon -g -q 0:0.01:4 -X 300 --method=usfft2d gather.nrrd
		2|-g: '0,1' is a list, and emst runs on one GPU|emst --gpu=0,1 f.pgm
		2|-g: '0,1' is a list, and --deconvolve runs on one GPU|wconv --gpu=0,1 -k k.pgm --deconvolve=2 f.pgm
		2|-g: '0,1' is a list, and usfft runs on one GPU|usfft --gpu=0,1 -T 1 -n 8 points.nrrd
		1|'7x'|$B/t/cudacpu/morphrec --gpu=7x --hdome=20 f.pgm
		1|'x'|$B/t/cudacpu/morphrec --gpu=x --hdome=20 f.pgm
		1|'0,'|$B/t/cudacpu/morphrec --gpu=0, --hdome=20 f.pgm
		1|',0'|$B/t/cudacpu/morphrec --gpu=,0 --hdome=20 f.pgm
		1|'0,,0'|$B/t/cudacpu/morphrec --gpu=0,,0 --hdome=20 f.pgm
		1|'-1'|$B/t/cudacpu/morphrec --gpu=-1 --hdome=20 f.pgm
		1|'99': GPUs have the numbers 0 to|$B/t/cudacpu/morphrec --gpu=99 --hdome=20 f.pgm
		1|'0,99': GPUs have the numbers 0 to|$B/t/cudacpu/morphrec --gpu=0,99 --hdome=20 f.pgm
		1|'0,0' names GPU 0 twice|$B/t/cudacpu/morphrec --gpu=0,0 --hdome=20 f.pgm
	END
	fails 1 "'0 '" "$B/t/cudacpu/morphrec" --gpu='0 ' --hdome=20 f.pgm
}

@test "a program starts, and does its work, on a machine without a driver" {
	! have_gpu || skip "there is one"
	picture
	for c in "${commands[@]}"; do
		$c >out
		[ -s out ]
	done
}

# Programs that do nothing: kit/NAME is $1 with the name it was called by. The scripts of the kit lie beside them.
fake_kit() {
	mkdir -p kit/t/bench kit/lib
	cp "$root/t/kit/run" "$root"/t/bench/{gpu.sh,gpu-papers.sh,gpu.bash,seeds.bash,threads.sh} kit/
	printf '#!/bin/bash\nname=${0##*/}\n%s\n' "$1" >kit/fake
	chmod +x kit/fake
	for name in morphrec wconv emst dptrace usfft radon t/check-gpu t/gen t/gencmp t/interleave t/bench/gpu-rate nvidia-smi; do
		cp kit/fake "kit/$name"
	done
}

@test "the kit without a GPU, or where its programs do not start, fails with one line" {
	fake_kit 'echo "GPU: CUDA 13.0, no GPU: there is no driver"'
	run -1 kit/run log
	same <(echo "$output") 'no GPU: there is no driver'
	[ ! -e log ]
	fake_kit 'echo "$name: no such library" >&2; exit 127'
	run -1 kit/run log
	same <(echo "$output") 'the programs do not start here: morphrec: no such library'
	fake_kit '[[ $name != gpu-rate ]] || { echo "some GPU: no kernels"; exit 0; }; echo "GPU: CUDA 13.0, some GPU"'
	run -1 kit/run log
	same <(echo "$output") 'the GPU cannot be used: some GPU: no kernels'
}

@test "the kit is not built without CUDA" {
	run -2 make -s -C "$root" B="$PWD/b" NVCC= gpu-kit
	grep -q '^gpu-kit needs CUDA: NVCC=' <<<"$output"
	[ ! -e b ]
}

@test "a step of the kit that fails, or for which no time is left, does not stop the others" {
	fake_kit '[[ $name$* != check-gpugpu/emst ]] || { echo FAILED: wrong; exit 3; }
		[[ $name != gpu-rate ]] || echo "some GPU: copies within its memory move 1000 GB/s"
		[[ $* != --version ]] || echo "GPU: CUDA 13.0, some GPU"'
	run -1 kit/run log check threads
	grep -q '^check-emst: exit 3 in [0-9]* s: FAILED: wrong$' <<<"$output"
	grep -q '^check-radon: exit 0 in ' <<<"$output"
	grep -q '^threads: exit 0 in ' <<<"$output"
	same <(tail -n 1 <<<"$output") '1 steps failed: check-emst'
	grep -A 1 -x -e '----- check-emst failed:' <<<"$output" | grep -q -x 'FAILED: wrong'
	grep -A 1 -x '===== check-emst' log | grep -q -x 'FAILED: wrong'
	run -1 grep -q bench log
	run -1 kit/run log check-emst
	[ "$(grep -c ^check <<<"$output")" -eq 1 ]
	KIT_SECONDS=0 kit/run log check | grep -q '^no time was left for: check-cudacpu check-morphrec '
}

# Whether a process has not ended; one that nobody has waited for yet has.
is_running() {
	grep -qs '^State:.[^ZX]' "/proc/$1/status"
}

# Each nested timeout makes a group of processes of its own, so the step's timeout does not reach it.
@test "a step of the kit that hangs ends at its limit, with all that it has started" {
	fake_kit '[[ $name$* != check-gpugpu/wconv ]] || { timeout 60 sleep 47 & echo $! >$B/nested; echo begun; wait; }
		[[ $name != gpu-rate ]] || echo "some GPU: copies within its memory move 1000 GB/s"
		[[ $* != --version ]] || echo "GPU: CUDA 13.0, some GPU"'
	printf '#!/bin/bash\n[[ $4 != */check-gpu ]] || set -- -k 5 3 "${@:4}"\nexec %s "$@"\n' "$(command -v timeout)" >kit/timeout
	chmod +x kit/timeout
	run -1 kit/run log check 3>&-
	grep -q '^check-wconv: exit 124 in [0-9]* s: begun$' <<<"$output"
	grep -q '^check-radon: exit 0 in ' <<<"$output"
	same <(tail -n 1 <<<"$output") '1 steps failed: check-wconv'
	SECONDS=0 # it would end by itself after 47 s
	while [ $SECONDS -lt 20 ] && is_running "$(cat kit/nested)"; do :; done
	[ -s kit/nested ] && ! is_running "$(cat kit/nested)"
}

@test "the bench of the GPU goes on after a line that fails, and says so" {
	fake_kit '[[ $name != emst ]] || exit 1
		bytes=$(for a; do [[ $a = -* || ! -f $a ]] || cat "$a"; done | wc -c)
		for a; do [[ $a != --stats=* ]] || echo "\"kernel_seconds\": $bytes.0e-1" >"${a#--stats=}"; done
		[[ $name != interleave ]] || printf "cpu 3 0 0 1\ngpu 2 0 0 1\n"
		[[ $name != gen || $1 != smooth ]] || echo
		[[ $name != gpu-rate ]] || echo "some GPU: copies within its memory move 1000 GB/s, up 5.0, down 6.0; it does 2.5 T operations/s in float, 1.0 in double"
		[[ $* != --version ]] || echo "GPU: CUDA 13.0, some GPU"'
	PATH=$PWD/kit:$PWD/kit/t:$PATH B=kit run -1 bash kit/gpu.sh
	grep -q '^  FAILED: emst -g$' <<<"$output"
	grep -q 'FAILED: emst --points --method=brute -g$' <<<"$output"
	grep -q '^radon: the same by least squares$' <<<"$output"
	grep -q '^| emst: the colours of 1000000 random pixels *FAILED$' <<<"$output"
	# of an item: a byte, so .1 s; 12 * 8192^2 bytes at 1000 GB/s, 4 * 31^2 * 4096^2 operations at 2.5 T/s
	grep -q '^| morphrec: h-dome of 8192x8192  *3 * 2 *0.100000 *0.000000 \( *0.0000\)\{5\} *0.000805 *1%$' <<<"$output"
	grep -q '^| wconv: 4096x4096, .* 0.025797 ' <<<"$output"
}
