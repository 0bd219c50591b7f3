# needs: numpy
"""Whole traces of dptrace, one thread, against scikit-image's route_through_array and OpenCV's intelligent scissors.

Twelve pictures of 512 x 512 with one line (gen_dptrace, noise 1), points 357 pixels apart. dptrace's time is what it
plans and computes (--stats); scikit-image's is the search alone, its costs made beforehand and cropped to the strip that
dptrace searches; OpenCV's is applyImage, buildMap and getContour on that crop. Medians of turns taken by all.
The batch is 1000 pairs of points on one picture: dptrace's is the whole process, picture read and polylines written;
scikit-image's the searches of 200 of them, spread over the batch and over dptrace's turns, times five. Both in
processor time, which other work on the machine does not stretch; the two runs that follow, one thread against two, in
wall time.
"""
import json, os, resource, subprocess, tempfile, time
import numpy as np

SIDE, SEEDS = 512, 12


def run(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def children():
    """Seconds of processor time of the programs that have ended."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def picture(seed):
    data = run("gen_dptrace", "line", "1", str(seed))
    a = np.frombuffer(data[-4 * SIDE * SIDE:], np.float32).reshape(SIDE, SIDE)
    truth = np.array(run("gen_dptrace", "line", "1", str(seed), "300").split(), float).reshape(-1, 2)
    return data, a, truth


def half_width(p, q):
    """Of dptrace's strip, by default."""
    return min(max(.2 * np.hypot(*(q - p)), 32), 64)


def crop(a, p, q):
    width = half_width(p, q)
    lo = np.maximum(np.minimum(p, q) - width, 0).astype(int)
    hi = np.minimum(np.maximum(p, q) + width + 1, SIDE).astype(int)
    return a[lo[1]:hi[1], lo[0]:hi[0]], lo


def inside(shape, p, q, width):
    """The strip within the crop: dptrace looks no further either."""
    y, x = np.mgrid[:shape[0], :shape[1]]
    n = np.array([-(q - p)[1], (q - p)[0]]) / np.hypot(*(q - p))
    return np.abs((x - p[0]) * n[0] + (y - p[1]) * n[1]) <= width


def error(xy, truth):
    return np.sqrt(((xy[:, None] - truth[None]) ** 2).sum(2)).min(1).mean()


def ours(name, p, q):
    out = subprocess.run(["dptrace", "-t", "1", "--score=ridge+", "-p", "%f,%f" % tuple(p), "-p", "%f,%f" % tuple(q),
                          "--stats", name], check=True, capture_output=True)
    s = json.loads(out.stderr.splitlines()[-1])["seconds"]
    return s["plan"] + s["compute"], np.array(out.stdout.split(), float).reshape(-1, 2)


def ridge_costs(a):
    from scipy.ndimage import gaussian_filter
    h = [gaussian_filter(a, 2, order=o) for o in ((0, 2), (1, 1), (2, 0))]
    ridge = -(h[0] + h[2]) / 2 + np.sqrt(((h[0] - h[2]) / 2) ** 2 + h[1] ** 2)
    ridge = np.maximum(ridge, 0) / (np.abs(ridge) + 4 * np.median(np.abs(ridge)))
    return 1 / (.02 + ridge)


def strip_costs(costs, p, q):
    c, lo = crop(costs, p, q)
    c = c.copy()
    c[~inside(c.shape, p - lo, q - lo, half_width(p, q))] = -1
    return c, lo


def skimage_search(c, lo, p, q, clock=time.perf_counter):
    from skimage.graph import route_through_array
    t = clock()
    path, _ = route_through_array(c, np.rint(p - lo).astype(int)[::-1], np.rint(q - lo).astype(int)[::-1])
    return clock() - t, np.array(path)[:, ::-1] + lo


def scissors(a, p, q):
    import cv2
    c, lo = crop(a, p, q)
    c = np.clip((c + 3) / 7 * 255, 0, 255).astype(np.uint8)
    tool = cv2.segmentation.IntelligentScissorsMB()
    tool.setEdgeFeatureCannyParameters(16, 100)
    t = time.perf_counter()
    tool.applyImage(c)
    tool.buildMap(tuple(int(v) for v in np.rint(p - lo)))
    path = tool.getContour(tuple(int(v) for v in np.rint(q - lo)))
    return time.perf_counter() - t, path.reshape(-1, 2) + lo


def has(module):
    try:
        __import__(module)
        return True
    except ImportError:
        print("  %s is not installed" % module)
        return False


def report(title, times, errors):
    print(title)
    first = None
    for name in times:
        m = 1e3 * np.median(times[name])
        first = first or m
        line = "  %-36s %10.2f ms" % (name, m)
        print(line + ("" if m == first else "   %7.2f times the first" % (m / first)) +
              ("   mean error %.2f px" % np.mean(errors[name]) if name in errors else ""))


def traces(directory, with_skimage, with_cv2):
    times, errors = {}, {}

    def note(name, result, truth):
        times.setdefault(name, []).append(result[0])
        errors.setdefault(name, []).append(error(result[1], truth))

    for seed in range(1, SEEDS + 1):
        data, a, truth = picture(seed)
        name = os.path.join(directory, "picture.nrrd")
        open(name, "wb").write(data)
        p, q = truth[0], truth[-1]
        for _ in range(3):
            note("dptrace", ours(name, p, q), truth)
            if with_skimage:
                note("scikit-image route_through_array", skimage_search(*strip_costs(ridge_costs(a), p, q), p, q), truth)
            if with_cv2:
                note("OpenCV intelligent scissors", scissors(a, p, q), truth)
    report("a trace over 357 px", times, errors)


def batch(directory, with_skimage, count=1000, share=200, rounds=5):
    data, a, truth = picture(1)
    rng = np.random.default_rng(1)
    name, lines = os.path.join(directory, "picture.nrrd"), os.path.join(directory, "lines")
    open(name, "wb").write(data)
    pairs = [(truth[i], truth[i + 200]) for i in rng.integers(0, 99, count)]
    open(lines, "w").writelines("%f %f %f %f\n" % (*p, *q) for p, q in pairs)
    times = {"dptrace -f": []}
    picked = pairs[::count // share]
    costs = ridge_costs(a) if with_skimage else None
    for r in range(rounds):
        t = children()
        run("dptrace", "-t", "1", "-f", lines, name)
        times["dptrace -f"].append(children() - t)
        if with_skimage:
            took = [skimage_search(*strip_costs(costs, p, q), p, q, time.process_time)[0]
                    for p, q in picked[r::rounds]]
            times.setdefault("scikit-image, searches alone", []).append(np.mean(took) * count)
    report("%d traces over about 240 px (scikit-image: %d of them)" % (count, share), times, {})
    times = {"one thread": [], "two threads": []}
    for _ in range(rounds):
        for name_of, n in (("one thread", "1"), ("two threads", "2")):
            t = time.perf_counter()
            run("dptrace", "-t", n, "-f", lines, name)
            times[name_of].append(time.perf_counter() - t)
    report("the same batch by dptrace", times, {})


with tempfile.TemporaryDirectory() as directory:
    with_skimage, with_cv2 = has("skimage"), has("cv2")
    traces(directory, with_skimage, with_cv2)
    batch(directory, with_skimage)
