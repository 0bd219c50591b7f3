"""The peers of wconv-peers.sh: the same result as `wconv --place=corner`, as one would write it in Python."""
import concurrent.futures
import sys

import numpy as np


def load(path):
    """The samples of a raw item of float, slowest axis first."""
    with open(path, "rb") as f:
        while True:
            line = f.readline().strip()
            if line.startswith(b"sizes:"):
                sizes = [int(n) for n in line[6:].split()]
            if not line:
                return np.fromfile(f, np.float32).reshape(sizes[::-1])


image, kernels = load("i.nrrd"), load("k.nrrd")
M, NK, N = image.shape[0], kernels.shape[0], kernels.shape[2]
C = N // 2
node = np.arange(NK) * (M - 1) / (NK - 1)
result = np.zeros_like(image)


def hat(i):
    """Pixels that node i weighs, and the weights."""
    x = np.arange(M)
    w = np.interp(x, node, np.eye(NK)[i])
    at = np.flatnonzero(w)
    return at[0], at[-1] + 1, w[at[0] : at[-1] + 1].astype(np.float32)


def window(y0, y1, x0, x1):
    """Pixels [y0,y1) x [x0,x1) and the border that a kernel needs, zero beyond the image."""
    pad = np.zeros((y1 - y0 + N - 1, x1 - x0 + N - 1), np.float32)
    top, left = y0 + C - N + 1, x0 + C - N + 1
    a, b, c, d = max(top, 0), min(y1 + C, M), max(left, 0), min(x1 + C, M)
    pad[a - top : b - top, c - left : d - left] = image[a:b, c:d]
    return pad


def kernels_row(j):
    """SciPy, a convolution for each kernel of row j."""
    from scipy.signal import fftconvolve

    y0, y1, wy = hat(j)
    out = np.zeros((y1 - y0, M), np.float32)
    for i in range(NK):
        x0, x1, wx = hat(i)
        out[:, x0:x1] += wy[:, None] * wx * fftconvolve(window(y0, y1, x0, x1), kernels[j, i], "valid")
    return y0, y1, out


def filter_row(j):
    """OpenCV, likewise; filter2D correlates and takes its borders from the padded window."""
    import cv2

    y0, y1, wy = hat(j)
    out = np.zeros((y1 - y0, M), np.float32)
    for i in range(NK):
        x0, x1, wx = hat(i)
        f = cv2.filter2D(window(y0, y1, x0, x1), -1, kernels[j, i, ::-1, ::-1], anchor=(N - 1 - C, N - 1 - C))
        top = N - 1 - C
        out[:, x0:x1] += wy[:, None] * wx * f[top : top + y1 - y0, top : top + x1 - x0]
    return y0, y1, out


def cells():
    """SciPy, cell by cell: one transform of the pixels, four products, one batch of four inverses."""
    from scipy import fft

    edge = np.ceil(node).astype(int)
    edge[-1] = M
    size = fft.next_fast_len(int(np.diff(edge).max()) + N - 1, real=True)
    shape = (size, size)

    def spectra(j):
        return fft.rfft2(kernels[j], shape)

    def row(j):
        above, below = spectra(j), spectra(j + 1)
        y0, y1 = edge[j], edge[j + 1]
        v = ((np.arange(y0, y1) - node[j]) / (node[j + 1] - node[j])).astype(np.float32)[:, None]
        for i in range(NK - 1):
            x0, x1 = edge[i], edge[i + 1]
            four = np.stack((above[i], above[i + 1], below[i], below[i + 1]))
            f = fft.irfft2(four * fft.rfft2(window(y0, y1, x0, x1), shape), shape)
            f = f[:, N - 1 : N - 1 + y1 - y0, N - 1 : N - 1 + x1 - x0]
            u = ((np.arange(x0, x1) - node[i]) / (node[i + 1] - node[i])).astype(np.float32)
            p = f[0] + u * (f[1] - f[0])
            result[y0:y1, x0:x1] = p + v * (f[2] + u * (f[3] - f[2]) - p)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(row, range(NK - 1)))


def rows(one):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for y0, y1, out in pool.map(one, range(NK)):
            result[y0:y1] += out


{"kernels": lambda: rows(kernels_row), "filter2D": lambda: rows(filter_row), "cells": cells}[sys.argv[1]]()
result.tofile("o.raw")
