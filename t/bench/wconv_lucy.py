"""Deconvolution by wconv beside skimage.restoration.richardson_lucy, on pictures whose truth is known.

Prints the root mean square of the error in counts, more than 16 pixels from the edges and nearer, and the seconds of a
whole run. wconv has the kernels that vary and stops by --noise, the square root of the mean count. scikit-image has the
mean of the kernels; it has no rule to stop: its number of steps is the default, 10, or the best of 3, 10, 30 and 100 by the truth.
"""
import json
import os
import subprocess
import time

import numpy as np
import skimage
from PIL import Image
from scipy.special import j0
from skimage.restoration import richardson_lucy

random = np.random.default_rng(3)


def save(path, samples):
    sizes = " ".join(str(n) for n in samples.shape[::-1])
    head = f"NRRD0005\ntype: float\ndimension: {samples.ndim}\nsizes: {sizes}\nendian: little\nencoding: raw\n\n"
    with open(path, "wb") as f:
        f.write(head.encode() + np.ascontiguousarray(samples, "<f4").tobytes())


def load(path, shape):
    with open(path, "rb") as f:
        return np.frombuffer(f.read()[-4 * np.prod(shape) :], "<f4").reshape(shape).astype(float)


def wconv(*options):
    subprocess.run(["wconv", *options], check=True)


def timed(do):
    begin = time.time()
    result = do()
    return result, time.time() - begin


def widening_kernels():
    """8x8 Gaussian kernels of 25x25. Their width grows from 1.3 pixels to 3.5 at the corners."""
    r = np.arange(25) - 12
    u = (np.arange(8) + 0.5) / 4 - 1
    width = 1.3 + 2.2 * np.hypot(u[:, None], u) / np.hypot(7 / 8, 7 / 8)
    k = np.exp(-(r[:, None] ** 2 + r**2) / (2 * width[:, :, None, None] ** 2))
    return k / k.sum((2, 3), keepdims=True)


def depth_kernels():
    """1x8 kernels of 25x41 for sections along the depth of a microscope's stack.

    Scalar diffraction through an aperture of NA 1.2, summed across the section. Spherical aberration grows with the depth,
    to 4.7 waves; steps are .1 um along x and .25 um along the depth.
    """
    rho = np.linspace(0, 1, 200)
    k = 2 * np.pi / 0.52
    x, across, depth = (np.arange(25) - 12) * 0.1, np.arange(-30, 31) * 0.1, (np.arange(41) - 20) * 0.25
    wave = j0(k * 1.2 * np.hypot(x[:, None], across).reshape(-1, 1) * rho)
    kernels = np.zeros((8, 1, 41, 25))
    for i in range(8):
        for j, z in enumerate(depth):
            phase = -k * z * 1.2**2 * rho**2 / 2.66 + 2 * np.pi * 5 * (i + 0.5) / 8 * (rho**4 - rho**2)
            kernels[i, 0, j] = (np.abs(wave @ (np.exp(1j * phase) * rho)) ** 2).reshape(25, -1).sum(1)
    return kernels / kernels.sum((2, 3), keepdims=True)


def sample_picture(name, left):
    path = os.path.join(os.path.dirname(skimage.__file__), "data", name)
    return np.asarray(Image.open(path).convert("L"), float)[left : left + 536, left : left + 536] * 4


def blobs(height, width, n, sizes):
    """Ellipses with a texture of a few pixels' period, 20 counts between them."""
    y, x = np.mgrid[:height, :width]
    picture = np.full((height, width), 20.0)
    for _ in range(n):
        x0, y0, t = random.uniform(0, width), random.uniform(0, height), random.uniform(0, 3)
        a, b = random.uniform(*sizes, 2)
        u, v = (x - x0) * np.cos(t) + (y - y0) * np.sin(t), (y - y0) * np.cos(t) - (x - x0) * np.sin(t)
        inside = (u / a) ** 2 + (v / b) ** 2 < 1
        picture[inside] = random.uniform(100, 600) * (1 + 0.3 * np.sin(x[inside]) * np.sin(y[inside]))
    return picture


def compare(name, pictures, kernels):
    """Blurs the pictures and counts photons; restores them; prints a line for each way."""
    gy, gx, kh, kw = kernels.shape
    top, left = kh // 2, kw // 2
    truth = pictures[:, top:-top, left:-left]
    h, w = truth.shape[1:]
    nodes = [",".join(str(o + (i + 0.5) * n / g - 0.5) for i in range(g)) for g, n, o in ((gx, w, left), (gy, h, top))]
    save("k.nrrd", kernels)
    save("truth.nrrd", pictures)
    star = ["-k", "k.nrrd", "--adjoint", "--correlate"]
    wconv(*star, f"--cols={nodes[0]}", f"--rows={nodes[1]}", "truth.nrrd", "-o", "blurred.nrrd")
    blurred = load("blurred.nrrd", pictures.shape)[:, top:-top, left:-left]
    data = random.poisson(np.maximum(blurred, 0)).astype(float)
    save("data.nrrd", data)

    inside = np.zeros(truth.shape, bool)
    inside[:, 16:-16, 16:-16] = True

    def say(way, result, seconds=None):
        errors = [np.sqrt(np.mean((result - truth)[part] ** 2)) for part in (inside, ~inside)]
        print(f"{name:10} {way:34} {errors[0]:6.1f} {errors[1]:6.1f}" + (f" {seconds:8.2f} s" if seconds else ""))
        return errors[0]

    say("data", data)
    noise = np.sqrt(data.mean())
    for way, file in (("wconv --noise", "k.nrrd"), ("wconv --noise, mean kernel", "mean.nrrd")):
        save("mean.nrrd", kernels.mean((0, 1), keepdims=True))
        options = ["-k", file, *star[2:], "--deconvolve=1000", f"--noise={noise}", "--stats=s", "data.nrrd", "-o", "x.nrrd"]
        _, seconds = timed(lambda: wconv(*options))
        with open("s") as f:
            steps = json.load(f)["iterations"]
        say(f"{way}, {steps} steps", load("x.nrrd", truth.shape), seconds)
    top, mean, tried = data.max(), kernels.mean((0, 1)), []
    for n in (3, 10, 30, 100):
        lucy = lambda: np.stack([richardson_lucy(y / top, mean, num_iter=n, clip=False) * top for y in data])
        result, seconds = timed(lucy)
        error = np.sqrt(np.mean((result - truth)[inside] ** 2))
        tried.append((error, n, result, seconds))
    say("scikit-image, 10 steps", *tried[1][2:])
    best = min(tried, key=lambda t: t[0])
    say(f"scikit-image, best: {best[1]} steps", best[2], best[3])


widening = widening_kernels()
compare("cells", sample_picture("cell.png", 0)[None], widening)
compare("galaxies", sample_picture("hubble_deep_field.jpg", 100)[None], widening)
compare("nuclei", blobs(536, 536, 250, (4, 12))[None], widening)
sections = np.stack([blobs(200, 536, 150, (3, 10)) for _ in range(4)])
compare("sections", sections * sections.mean() / sections.mean((1, 2), keepdims=True), depth_kernels())
