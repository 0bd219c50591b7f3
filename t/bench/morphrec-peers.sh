#!/bin/bash
# Reconstruction of pictures and volumes at two levels of instructions against scikit-image, Octave's image package and, of pictures,
# ITK, each in its own process, on the same arrays, one thread: seconds of the reconstruction alone as each reports them, rounds
# taken in turn, and whether the results are equal. A peer that takes more than five seconds runs once.
set -eu
$WEIR_PYTHON -c 'import numpy' 2>/dev/null || {
	echo "numpy is absent: no comparison with scikit-image, Octave and ITK"
	exit 0
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export OMP_NUM_THREADS=1
# ITK has no .pc file; its libraries bear the version that its directory of headers does.
for headers in /usr/include/ITK-*; do
	version=${headers##*-}
	g++ -std=c++17 -O3 -DNDEBUG -I"$headers" -o "$dir/itk" t/bench/morphrec-itk.cxx \
		-l"ITKCommon-$version" -l"itkvnl-$version" -l"itkvnl_algo-$version" 2>/dev/null && break
done
$WEIR_PYTHON - "$dir" <<'PYTHON'
import json, os, shutil, subprocess, sys, time
import numpy as np
try:
    from skimage.morphology import reconstruction
except ImportError:
    reconstruction = None
    print('scikit-image is absent')
octave = shutil.which('octave')
if not octave:
    print('octave is absent')
dir, n = sys.argv[1], 2048
has_itk = os.path.exists(dir + '/itk')
if not has_itk:
    print('ITK is absent')

def raw(*words):
    """A picture of build/t/gen as numbers in 0..1."""
    b = subprocess.run(['gen', *map(str, words)], check=True, capture_output=True).stdout
    return np.frombuffer(b[-n * n:], np.uint8).reshape(n, n) / 255

def volume():
    """256x256x100 samples of smooth noise in 0..1."""
    b = subprocess.run(['gen', 'noise', '256', '25600'], check=True, capture_output=True).stdout
    f = np.fft.rfftn(np.frombuffer(b[-6553600:], np.uint8).reshape(100, 256, 256))
    w = [np.exp(-2 * (4 * np.pi * np.fft.fftfreq(m)) ** 2) for m in (100, 256)]
    f *= w[0][:, None, None] * w[1][:, None] * w[1][:129]
    v = np.fft.irfftn(f, (100, 256, 256), (0, 1, 2))
    return (v - v.min()) / (v.max() - v.min())

def ours(mask, marker, conn, level='avx512'):
    np.save(dir + '/mask.npy', mask)
    np.save(dir + '/marker.npy', marker)
    e = subprocess.run(['morphrec', '-t', '1', '-c', str(conn), '--stats', '-o', dir + '/out', '-m',
                        dir + '/mask.npy', dir + '/marker.npy'], check=True, capture_output=True,
                       env=dict(os.environ, WEIR_CPU=level))
    b = open(dir + '/out', 'rb').read()
    return json.loads(e.stderr)['seconds']['compute'], np.frombuffer(b[-mask.nbytes:], mask.dtype).reshape(mask.shape)

def ours_avx2(mask, marker, conn):
    return ours(mask, marker, conn, 'avx2')

def scikit(mask, marker, conn):
    block = np.ones((3,) * mask.ndim)
    if conn in (4, 6):
        block = np.abs(np.indices(block.shape) - 1).sum(0) <= 1
    t = time.perf_counter()
    r = reconstruction(marker, mask, footprint=block)
    return time.perf_counter() - t, r

def octaves(mask, marker, conn):
    kind = {'uint8': 'uint8', 'uint16': 'uint16', 'float32': 'single'}[mask.dtype.name]
    size = ' '.join(map(str, mask.shape[::-1]))
    mask.tofile(dir + '/mask')
    marker.tofile(dir + '/marker')
    e = subprocess.run([octave, '-qf', '--no-gui', '--eval', f'''pkg load image;
        f = fopen("{dir}/mask"); I = reshape(fread(f, Inf, "*{kind}"), [{size}]); fclose(f);
        f = fopen("{dir}/marker"); J = reshape(fread(f, Inf, "*{kind}"), [{size}]); fclose(f);
        tic; R = imreconstruct(J, I, {conn}); printf("%.6f\\n", toc);
        f = fopen("{dir}/result", "w"); fwrite(f, R, "{kind}"); fclose(f);'''], check=True, capture_output=True)
    return float(e.stdout), np.fromfile(dir + '/result', mask.dtype).reshape(mask.shape)

def itk(mask, marker, conn):
    mask.tofile(dir + '/mask')
    marker.tofile(dir + '/marker')
    e = subprocess.run([dir + '/itk', mask.dtype.name, str(conn), str(n), *(f'{dir}/{f}' for f in ('mask', 'marker', 'result'))],
                       check=True, capture_output=True)
    return float(e.stdout), np.fromfile(dir + '/result', mask.dtype).reshape(n, n)

smooth, noise = raw('smooth', n, n, 4), raw('noise', n, n)
seeds = raw('seeds', n, n, 250) > 0
frame = np.ones((n, n), bool)
frame[1:-1, 1:-1] = False
for name, f, types in (('h-dome of smooth noise', smooth, ('uint8', 'uint16', 'float32')),
                       ('seeds under smooth noise', smooth, ('uint8',)), ('holes', 1 - smooth, ('uint8', 'uint16', 'float32')),
                       ('seeds under white noise', noise, ('uint8',)), ('h-dome of a volume', volume(), ('uint8', 'float32'))):
    for kind in types:
        top = {'uint8': 255, 'uint16': 65535, 'float32': 1}[kind]
        mask = (f * top).astype(kind)
        h = mask.dtype.type(top * .08)
        marker = (np.where(mask > h, mask - h, 0) if 'dome' in name else
                  np.where(frame if name == 'holes' else seeds, mask, 0)).astype(kind)
        for conn in (6, 26) if f.ndim == 3 else (4, 8) if types[1:] and kind == 'uint8' else (4,):
            peers = [('morphrec', ours), ('morphrec, AVX2', ours_avx2)] + [('Octave', octaves)] * bool(octave)
            peers += [('scikit-image', scikit)] * bool(reconstruction) + [('ITK', itk)] * (has_itk and f.ndim == 2)
            times, results = {p: [] for p, _ in peers}, {}
            for _ in range(3):
                for p, run in peers:
                    if times[p] and times[p][0] > 5:
                        continue
                    t, results[p] = run(mask, marker, conn)
                    times[p].append(t)
            print(f'{name}, {kind}, {"x".join(map(str, mask.shape[::-1]))}, {conn} neighbours')
            first = np.median(times['morphrec'])
            for p, _ in peers:
                t = np.median(times[p])
                same = '' if p == 'morphrec' else f'{t / first:9.2f} times the first' + (
                    '' if np.array_equal(results[p], results['morphrec']) else ', the results differ')
                print(f'  {p:36s} {1e3 * t:10.2f} ms{same}', flush=True)
PYTHON
