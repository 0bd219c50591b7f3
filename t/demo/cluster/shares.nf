// nextflow run shares.nf --program "wconv -k $PWD/psf.nrrd --grid=8x8" --file blurred.ppm --n 16
// The program, which has --part, does the file in n shares; out/whole is what it writes in one run. The program runs in another
// directory, so the paths of its options are absolute. With -resume, only shares that are missing run.
params.n = 16

process share {
    input:
    path file
    each i

    output:
    path 'share.*'

    script:
    "${params.program} -t ${task.cpus} --part=$i/${params.n} -o share.$i $file"
}

process whole {
    publishDir 'out'

    input:
    path shares

    output:
    path 'whole'

    script:
    "rawjoin -o whole $shares"
}

workflow {
    share(file(params.file), Channel.of(0..<(params.n as int))) | collect | whole
}
