# needs: numpy, scipy
"""Simulated pairs of frames: psfmatch --subtract beside hotpants, where that is on PATH, whole processes on one thread.

Frames have 1024x1024 pixels with counting noise. NEW is 1.2 times as bright as REF, and wider by Gaussians of 1.2 pixels at the left
edge to 2.0 at the right. `stars` has 750 Gaussian stars of 1.3 pixels; `galaxies` the field that the FITS file WEIR_FIELD holds, smoothed
and mirrored, to eight fields, for which SEP's data/image.fits was taken. Figures are the root mean square of the difference by the noise that
follows from the counts and the true kernel, 30 pixels or more from the edges, of all pixels and of those 8 times the sky's noise above
the sky, then the seconds at two levels of instructions, medians of five runs in turn.
"""
import os, shutil
import numpy as np
from front import seconds, sh, workplace
from scipy.ndimage import gaussian_filter

N, SKY, RATIO, EDGE = 1024, 200, 1.2, 30
WIDTHS = np.linspace(1.2, 2.0, 17)


def blurred(picture, scale=1):
    """Convolution with the Gaussian of each column, its width times scale, between those of two of WIDTHS."""
    at = np.linspace(0, len(WIDTHS) - 1, N)
    out = np.zeros((N, N))
    for i, s in enumerate(WIDTHS):
        out += gaussian_filter(picture, s * scale) * np.clip(1 - abs(at - i), 0, 1)
    return out


def stars(rng):
    y, x = np.mgrid[:41, :41] - 20
    out = np.zeros((N + 80, N + 80))
    for cx, cy, flux in zip(*rng.uniform(0, N, (2, 750)), 10 ** rng.uniform(3, 5.3, 750)):
        i, j = int(cy), int(cx)
        spot = np.exp(-((x - cx + j) ** 2 + (y - cy + i) ** 2) / (2 * 1.3 ** 2))
        out[i + 20:i + 61, j + 20:j + 61] += flux * spot / spot.sum()
    return out[40:-40, 40:-40]


def galaxies():
    sh(f"fitstoraw '{os.environ['WEIR_FIELD']}' | rawtonpy -o field.npy")
    f = np.load("field.npy").astype(float)
    f = gaussian_filter(np.maximum(f - np.median(f), 0), 1)[:256, :256]
    rows = np.hstack([f, f[:, ::-1], f, f[:, ::-1]])
    return np.vstack([rows, rows[::-1], rows, rows[::-1]])


def pair(name, light, rng):
    ref = light + SKY
    new = RATIO * blurred(light) + SKY
    s = np.interp(np.linspace(0, 1, N), np.linspace(0, 1, len(WIDTHS)), WIDTHS)
    noise = np.sqrt(new + RATIO ** 2 * blurred(ref, .5 ** .5) / (4 * np.pi * s ** 2))
    for file, mean in (("ref", ref), ("new", new)):
        np.save(file, rng.poisson(mean).astype(np.float32))
        sh(f"rawtofits -o {file}.fits {file}.npy")
    ours = "psfmatch --quiet -t 1 --gain=1 --subtract "
    runs = [("psfmatch", "avx512", ours + "ref.npy new.npy >d.nrrd"), ("psfmatch", "avx2", ours + "ref.npy new.npy >d.nrrd"),
            ("psfmatch, delta", "avx512", ours + "--basis=delta ref.npy new.npy >d.nrrd"),
            ("psfmatch, delta", "avx2", ours + "--basis=delta ref.npy new.npy >d.nrrd")]
    if shutil.which("hotpants"):
        runs.append(("hotpants", "", "hotpants -inim new.fits -tmplim ref.fits -outim d.fits -ko 2 -bgo 1 -n i -c t -ig 1 "
                     "-tg 1 -iu 1e9 -tu 1e9 -il -1e9 -tl -1e9 2>/dev/null"))
    times, errors = {}, {}
    for _ in range(5):
        for program, level, command in runs:
            sh("rm -f d.fits d.nrrd")
            times.setdefault(program, {}).setdefault(level, []).append(seconds(lambda: sh(command, level)))
            sh("[ ! -e d.fits ] || fitstoraw d.fits >d.nrrd; rawtonpy -o d.npy d.nrrd")
            e = (np.load("d.npy") / noise)[EDGE:-EDGE, EDGE:-EDGE]
            objects = (new + RATIO * blurred(light) > 2 * SKY + 8 * SKY ** .5)[EDGE:-EDGE, EDGE:-EDGE]
            errors[program] = [np.sqrt(np.nanmean(e ** 2)), np.sqrt(np.nanmean(e[objects] ** 2))]
    for program, t in times.items():
        print(f"| {name}, {program} | {errors[program][0]:.3f} | {errors[program][1]:.3f} | " +
              " | ".join(f"{np.median(v):.3f} s" for v in t.values()) + " |", flush=True)


with workplace():
    print("| pair and program | all pixels | on objects | AVX-512 | AVX2 |\n|---|---|---|---|---|")
    pair("stars", stars(np.random.default_rng(1)), np.random.default_rng(2))
    if os.environ.get("WEIR_FIELD"):
        pair("galaxies", galaxies(), np.random.default_rng(3))
