# needs: numpy, cv2, scipy
"""One kernel on 4096x4096 floats or bytes: whole processes of wconv, from a file to /dev/null, at two levels of instructions,
beside OpenCV and SciPy in memory, which get their results in new memory.

Kernels of noise go to filter2D; Gaussians to GaussianBlur and SciPy's gaussian_filter, and end at 4 standard deviations in all.
All take turns; figures are medians of ROUNDS turns, in milliseconds. SciPy has one thread only.
"""
import time
import cv2
import numpy as np
from front import PAUSE, seconds, sh, workplace
from scipy.ndimage import gaussian_filter

ROUNDS = 11
N = 4096


def wconv(level, threads, kernel, file):
    def run():
        time.sleep(PAUSE)
        return seconds(lambda: sh(f"wconv -t {threads} {kernel} {file} >/dev/null", level))
    return run


def peer(threads, f):
    def run():
        cv2.setNumThreads(threads)
        return seconds(f)
    return run


def row(name, runs):
    times = [[] for _ in runs]
    for r in range(ROUNDS):
        for t, run in zip(times, runs):
            if run and (r < 3 or np.median(t) < .2):
                t.append(run())
    print(f"| {name} | " + " | ".join(f"{1e3 * np.median(t):.1f}" if t else "-" for t in times) + " |", flush=True)


rng = np.random.default_rng(1)
with workplace():
    pictures = {"floats": rng.random((N, N), np.float32), "bytes": rng.integers(0, 256, (N, N), np.uint8)}
    for kind, picture in pictures.items():
        np.save(kind, picture)
    print("| | AVX-512 | two threads | AVX2 | two threads | OpenCV | two threads | SciPy |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, picture in pictures.items():
        for size in (3, 5, 7, 9):
            kernel = rng.random((size, size), np.float32)
            kernel /= kernel.sum()
            np.save("kernel", kernel)
            options = "-k kernel.npy" + (" --type=input" if kind == "bytes" else "")
            ours = [wconv(level, t, options, kind + ".npy") for level in ("avx512", "avx2") for t in (1, 2)]
            flipped = kernel[::-1, ::-1].copy()
            row(f"{kind}, {size}x{size}", ours + [peer(t, lambda: cv2.filter2D(picture, -1, flipped)) for t in (1, 2)] + [None])
    picture = pictures["floats"]
    for sigma in (.5, 1, 2, 4, 8):
        size = 2 * int(4 * sigma + .5) + 1
        ours = [wconv(level, t, f"--gaussian={sigma}", "floats.npy") for level in ("avx512", "avx2") for t in (1, 2)]
        blur = [peer(t, lambda: cv2.GaussianBlur(picture, (size, size), sigma)) for t in (1, 2)]
        row(f"Gaussian of {sigma}, {size}x{size}", ours + blur + [peer(1, lambda: gaussian_filter(picture, sigma))])
