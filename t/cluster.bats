load lib

# The scripts of t/demo/cluster: a program in shares on a Slurm of one machine, and by GNU parallel.

setup_file() {
	export SLURM_DIR=$BATS_FILE_TMPDIR/slurm
	root=${BATS_TEST_DIRNAME%/t}
	! "$root/t/slurm" here >/dev/null || "$root/t/slurm" start "$SLURM_DIR"
}

teardown_file() {
	[ ! -e "$SLURM_DIR" ] || "${BATS_TEST_DIRNAME%/t}/t/slurm" stop "$SLURM_DIR"
}

prepare() {
	export SLURM_CONF=$SLURM_DIR/slurm.conf
	cluster=$root/t/demo/cluster
	gen noise 60 200 --type=float >f.raw
	gen kernels 5 2 2 >k.raw
}

needs_slurm() {
	local why
	why=$("$root/t/slurm" here) || skip "$why"
	"$root/t/slurm" lives "$SLURM_DIR"
}

# first PROGRAM WORD < script: bin/PROGRAM does what the script says when it has that argument for the first time. Otherwise it
# is the program.
first() {
	mkdir -p bin
	cat - >bin/what
	cat >"bin/$1" <<-END
		#!/bin/bash
		if [[ " \$* " == *" $2 "* ]] && mkdir "$PWD/once" 2>/dev/null; then
			. "$PWD/bin/what"
		fi
		exec "$B/$1" "\$@"
	END
	chmod +x "bin/$1"
	PATH=$PWD/bin:$PATH
}

@test "Slurm: an array of shares, and a job that joins them" {
	needs_slurm
	N=5 DIR=$PWD/out bash "$cluster/shares.sbatch" wconv -k k.raw --method=direct f.raw
	wconv -k k.raw --method=direct f.raw | cmp - out/whole
}

@test "Slurm: a task is killed half-way; the join is cancelled, and the next run does what is missing" {
	needs_slurm
	first wconv --part=1/4 <<<'"$B/wconv" -k k.raw --part=1/4 f.raw | head -c 5000 >out/share.1; kill -9 $$'
	export B
	N=4 DIR=$PWD/out run -1 bash "$cluster/shares.sbatch" wconv -k k.raw --method=direct f.raw
	[ ! -e out/whole ]
	[ "$(rawjoin --quiet --missing=4 out/share.*)" = 1 ]
	N=4 DIR=$PWD/out bash "$cluster/shares.sbatch" wconv -k k.raw --method=direct f.raw
	wconv -k k.raw --method=direct f.raw | cmp - out/whole
}

@test "Slurm: a task that is requeued while it runs does its share again" {
	needs_slurm
	first wconv --part=2/3 <<<'scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"; exec tail -f /dev/null'
	N=3 DIR=$PWD/out bash "$cluster/shares.sbatch" wconv -k k.raw f.raw
	[ -e once ]
	wconv -k k.raw f.raw | cmp - out/whole
}

@test "GNU parallel: a share fails, and --resume-failed runs it again" {
	command -v parallel >/dev/null || skip "GNU parallel is not installed"
	first wconv --part=2/5 <<<'kill -9 $$'
	run -1 "$cluster/shares.sh" 5 2 out wconv -k k.raw f.raw
	[ ! -e out/whole ]
	[ "$(rawjoin --missing=5 out/share.*)" = 2 ]
	"$cluster/shares.sh" 5 2 out wconv -k k.raw f.raw
	wconv -k k.raw f.raw | cmp - out/whole
}

@test "Slurm: the tree of many pictures, a picture a task; a picture that was missing is done later" {
	needs_slurm
	for i in 0 1 2; do gen noise -s $i 40 30 | rawtopnm >"$i.pgm"; done
	mv 1.pgm away
	DIR=$PWD/out run -1 bash "$cluster/emst.sbatch" --to=text -- 0.pgm 1.pgm 2.pgm
	[ ! -e out/whole ] && [ ! -e out/colours.000001 ] && [ -e out/colours.000002 ]
	mv away 1.pgm
	DIR=$PWD/out bash "$cluster/emst.sbatch" --to=text -- 0.pgm 1.pgm 2.pgm
	emst --together --to=text 0.pgm 1.pgm 2.pgm | cmp - out/whole
	# Colours of a picture that is not named do not count.
	cp out/colours.000002 out/colours.000003
	DIR=$PWD/out bash "$cluster/emst.sbatch" --to=colours -- 0.pgm 1.pgm 2.pgm
	cmp <(emst --together --to=colours 0.pgm 1.pgm 2.pgm | rawtotext) <(rawtotext out/whole)
}

@test "Slurm: a picture's task is killed half-way and leaves nothing; the next run does that picture alone" {
	needs_slurm
	killat 1 true || [ $? -eq 137 ] || skip "processes cannot be traced here"
	for i in 0 1 2; do gen noise -s $i 40 30 | rawtopnm >"$i.pgm"; done
	first emst 1.pgm <<<'killat 80 "$B/emst" "$@"; echo $? >killed; kill -9 $$'
	export B
	DIR=$PWD/out run -1 bash "$cluster/emst.sbatch" --to=text -- 0.pgm 1.pgm 2.pgm
	same killed 137
	lines <(cd out && ls -A colours.* .colours.* 2>/dev/null) 'colours.000000/colours.000002'
	touch -d @0 out/colours.*
	DIR=$PWD/out bash "$cluster/emst.sbatch" --to=text -- 0.pgm 1.pgm 2.pgm
	[ "$(stat -c %Y out/colours.000002)" -eq 0 ]
	emst --together --to=text 0.pgm 1.pgm 2.pgm | cmp - out/whole
}
