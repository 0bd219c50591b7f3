# needs: numpy, scipy
"""The table "How fast" of README.md: whole processes of ours, from files to /dev/null, at two levels of instructions, beside
what a user of Python or Octave calls, in memory. All take turns; figures are medians. A peer that is absent is left out.
"""
import contextlib, datetime, os, platform, re, subprocess, tempfile, time
import numpy as np

ROUNDS = 9
PAUSE = .1  # before a process of ours: OpenCV's threads go on spinning for a while after a call


def sh(command, level=None):
    env = dict(os.environ, WEIR_CPU=level) if level else os.environ
    subprocess.run(command, shell=True, check=True, env=env, stdout=subprocess.DEVNULL)


def seconds(f):
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


@contextlib.contextmanager
def workplace():
    """A directory of our own, in which the programs are still found."""
    os.environ["PATH"] = ":".join(os.path.abspath(p) for p in os.environ["PATH"].split(":"))
    with tempfile.TemporaryDirectory() as where:
        os.chdir(where)
        yield


def octave(code):
    """A function that runs code in Octave and returns the seconds that Octave says, or None."""
    def run():
        try:
            out = subprocess.run(["octave-cli", "--eval", code], capture_output=True, text=True, timeout=120)
            return float(out.stdout.split()[-1])
        except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
            return None
    return run


def load(path):
    """The samples of a raw item or a PGM file of bytes, slowest axis first."""
    out = subprocess.run(["rawtonpy", path], check=True, capture_output=True).stdout
    with open("load.npy", "wb") as f:
        f.write(out)
    return np.load("load.npy")


def convolution():
    sh("gen --type=float smooth 2048 2048 9 >i.nrrd; gen --type=float smooth 31 31 3 >k.nrrd")
    image, kernel = load("i.nrrd"), load("k.nrrd")
    peers = {}
    try:
        from scipy.signal import fftconvolve, oaconvolve
        peers["SciPy fftconvolve"] = lambda: fftconvolve(image, kernel, "same")
        peers["SciPy oaconvolve"] = lambda: oaconvolve(image, kernel, "same")
        import cv2
        peers["OpenCV filter2D"] = lambda: cv2.filter2D(image, -1, kernel)
    except ImportError:
        pass
    return "`wconv`", "2048x2048 floats, one kernel of 31x31", "wconv -k k.nrrd i.nrrd", peers


def reconstruction():
    sh("gen smooth 2048 2048 20 >m.pgm")
    mask = load("m.pgm")
    marker = np.maximum(mask, 20) - np.uint8(20)
    peers = {"Octave imreconstruct": octave(
        "pkg load image; m = imread('m.pgm'); j = m - 20; tic; imreconstruct(j, m, 4); toc; t = [];"
        "for i = 1:5, tic; imreconstruct(j, m, 4); t(i) = toc; end; disp(median(t))")}
    try:
        from skimage.morphology import reconstruction as rec
        cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
        peers["scikit-image"] = lambda: rec(marker, mask, footprint=cross)
    except ImportError:
        pass
    return "`morphrec`", "h-dome of 2048x2048 bytes, 4 neighbours", "morphrec -c 4 --hdome=20 m.pgm", peers


def tree():
    sh("gen --type=double noise 2 200000 >p.nrrd")
    points = load("p.nrrd")
    peers = {}
    try:
        from scipy.spatial import Delaunay
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import minimum_spanning_tree

        def delaunay():
            d = Delaunay(points).simplices
            a, b = np.concatenate([d[:, [0, 1]], d[:, [1, 2]], d[:, [2, 0]]]).T
            w = np.hypot(*(points[a] - points[b]).T)
            minimum_spanning_tree(coo_matrix((w, (a, b)), (len(points),) * 2).tocsr())
        peers["SciPy, Delaunay and MST"] = delaunay
    except ImportError:
        pass
    return "`emst`", "the tree of 200000 points of the plane", "emst --points p.nrrd", peers


def trace():
    sh("gen_dptrace line 1 201 >l.nrrd")
    picture = load("l.nrrd")
    ends = subprocess.run("gen_dptrace line 1 201 2", shell=True, check=True, capture_output=True, text=True).stdout
    p, q = np.array(ends.split(), float).reshape(-1, 2)[[0, -1]]
    peers = {}
    try:
        from skimage.graph import route_through_array
        cost = 1 / (1e-3 + np.clip(picture - picture.min(), 0, None))
        peers["scikit-image, costs at hand"] = lambda: route_through_array(
            cost, p[::-1].round().astype(int), q[::-1].round().astype(int))
    except ImportError:
        pass
    return "`dptrace`", "a polyline over 357 pixels", f"dptrace --quiet -p {p[0]},{p[1]} -p {q[0]},{q[1]} l.nrrd", peers


def radon():
    sh("gencmp --traces=256 --samples=512 >g.nrrd")
    gather = load("g.nrrd")
    q, x, n = np.linspace(-.3, .6, 256), np.arange(1, 257) * 50 / 12800, 1024

    def matrices():
        f = np.fft.rfft(gather, n)
        w = 2j * np.pi * np.fft.rfftfreq(n, .004)
        out = np.empty((256, n // 2 + 1), complex)
        for i in range(n // 2 + 1):
            out[:, i] = np.exp(w[i] * q[:, None] * x ** 2) @ f[:, i]
        np.fft.irfft(out, n)
    return ("`radon`", "adjoint, 256 traces of 512 samples, 256 curves",
            "radon --quiet -q -.3:.6:256 -X 12800 g.nrrd", {"NumPy, a matrix a frequency": matrices})


def labels():
    sh("gen --type=uchar noise 2048 2048 >n.pgm; rawmath --type=uchar 'a > 150' n.pgm >b.pgm")
    picture = load("b.pgm")
    peers = {}
    try:
        from scipy.ndimage import label
        peers["SciPy label"] = lambda: label(picture, np.ones((3, 3)))
        import cv2
        peers["OpenCV connectedComponents"] = lambda: cv2.connectedComponents(picture)
    except ImportError:
        pass
    return "`rawlabel`", "components of 2048x2048 pixels", "rawlabel b.pgm", peers


def fourier():
    sh("{ printf 'NRRD0005\\ntype: double\\ndimension: 2\\nsizes: 4 200000\\nkinds: list domain\\nendian: little\\n"
       "encoding: raw\\ncolumns:=x y re im\\n\\n'; gen --type=double noise 4 200000 | tail -c 6400000; } >f.nrrd")
    peers = {}
    try:
        import finufft
        x = np.random.default_rng(1).random((2, 200000)) * 2 * np.pi
        c = np.exp(1j * x[0])
        peers["FINUFFT"] = lambda: finufft.nufft2d1(x[0], x[1], c, (512, 512), eps=1e-6)
    except ImportError:
        pass
    return "`usfft`", "type 1, 200000 points, 512x512 modes, 1e-6", "usfft -T 1 -n 512,512 f.nrrd", peers


def levels():
    """The levels of instructions to measure, as many of them as this machine has."""
    out = subprocess.run(["rawtopnm", "-V"], check=True, capture_output=True, text=True).stdout
    return ("avx512", "avx2") if "avx512" in out else ("avx2",)


def row(name, work, command, peers, each=False):
    ours = levels()
    times = {key: [] for key in (*ours, *peers)}
    for _ in range(ROUNDS):
        for level in ours:
            time.sleep(PAUSE)
            times[level].append(seconds(lambda: sh(command + " >/dev/null", level)))
        for peer, f in peers.items():
            if len(times[peer]) * (np.median(times[peer]) if times[peer] else 0) > 5:
                continue
            if peer.startswith("Octave"):
                if not times[peer]:
                    times[peer].append(f())
            else:
                times[peer].append(seconds(f))
    m = {k: 1e3 * np.median(v) for k, v in times.items() if v and v[0] is not None}
    digits = 1 if each else 0
    cells = [f"{m[level]:.{digits}f} ms" if level in m else "-" for level in ("avx512", "avx2")]
    found = [p for p in peers if p in m]
    if each:
        cells.append(", ".join(f"{p} {m[p]:.1f} ms ({m[p] / m[ours[0]]:.1f})" for p in found) or "-")
    elif found:
        best = min(found, key=m.get)
        cells += [best, f"{m[best]:.0f} ms", f"{m[best] / m[ours[0]]:.1f}"]
    else:
        cells += ["-"] * 3
    print(f"| {name} | {work} | {' | '.join(cells)} |", flush=True)


def processor():
    found = re.search(r"model name\s*:\s*(.*)", open("/proc/cpuinfo").read())
    return found.group(1) if found else platform.machine()


def table(jobs, head, each=False):
    with workplace():
        print(f"{processor()}, {os.cpu_count()} processors, {datetime.date.today()}\n")
        print(head + "\n" + "|---" * (head.count("|") - 1) + "|")
        for job in jobs:
            row(*job(), each)


if __name__ == "__main__":
    table((convolution, reconstruction, tree, trace, radon, labels, fourier),
          "| program | work | AVX-512 | AVX2 | best peer at hand | its time | ratio |")
