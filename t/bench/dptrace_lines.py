# needs: numpy
"""dptrace on real lines, beside scikit-image's route_through_array and OpenCV's intelligent scissors.

The directory that WEIR_LINES names has one of three layouts:

	images/ and 1st_manual/		pictures and hand-made masks of their lines, as DRIVE has them (Staal et al. 2004);
					the green plane is taken. A mask's name begins with the digits of its picture's
					name, or, where that begins with none, with that name without its suffix
	images/ and truth/		the same for any pictures, in gray or in colour
	images/test/ and groundTruth/test/	those of BSDS500 (Arbelaez et al. 2011): the boundaries that the annotator
					of median detail drew are edges, and the pictures are in colour

	WEIR_PAIRS	pairs of points a class: 120
	WEIR_SEED	seed of the draw: 7
	WEIR_HALF	odd or even: only the first, third, ... or the second, fourth, ... of the pictures by name
	WEIR_DETOUR	how much longer than the straight way a reference may be: 1.1
	WEIR_PEERS	0: dptrace alone

Pairs of points are drawn on the skeletons of the masks; the reference is the way along the skeleton from one to the
other, smoothed, where that is at most WEIR_DETOUR times as long as the straight way. Points of the third class are off by a
normal error of 1.5 px along each axis.

	follows		polyline and reference stay within 6 px of each other, both ways
	distance	the mean distance to the reference of those that follow, both ways, the larger
	on lines	every point of the polyline lies within 6 px of some skeleton
	warned		of those that follow: dptrace says that something is doubtful (a false warning)
	missed		of those that do not follow: it says nothing

A last line counts the warnings of all classes: how many are of polylines that do not follow, and of how many.

Times are medians of the searches alone, one thread: of dptrace what it plans and computes a polyline, of scikit-image the
route on a cost picture made before (lines: Sato's filter, told whether they are dark; edges: the size of the gradient at
1 px), of OpenCV buildMap and getContour on the picture cropped to the points and 100 px around them.
"""
import heapq, json, os, re, subprocess, tempfile, time
import numpy as np

NEAR = 6
CLASSES = (("short", 80, 150, 0), ("long", 200, 350, 0), ("imprecise", 80, 150, 1.5))
MOST_DETOUR = float(os.environ.get("WEIR_DETOUR", "1.1"))
ROUND = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y]


class Pictures:
    """The pictures of a directory: names, picture and mask of each, and whether edges are asked for."""

    def __init__(self, directory):
        self.edges = os.path.isdir(directory + "/groundTruth")
        each = list((drawn if self.edges else masked)(directory))
        half = {"odd": slice(0, None, 2), "even": slice(1, None, 2)}.get(os.environ.get("WEIR_HALF"), slice(None))
        self.pictures, self.masks = zip(*each[half])
        self.dark = not self.edges and np.mean([contrast(*e) for e in zip(self.pictures, self.masks)]) < 0


def mask_of(picture, masks):
    """The mask of a picture, by their names; None: it has none."""
    key = (re.match(r"\d+", picture) or re.match(r".*(?=\.)", picture)).group()
    return next((m for m in masks if m.startswith(key) and not m[len(key)].isdigit()), None)


def masked(directory):
    from PIL import Image
    colour = os.path.isdir(directory + "/truth")
    truth = directory + ("/truth/" if colour else "/1st_manual/")
    masks = sorted(os.listdir(truth))
    for f in sorted(os.listdir(directory + "/images")):
        mask = mask_of(f, masks)
        if not mask:
            continue
        picture = np.array(Image.open(directory + "/images/" + f))
        yield (picture if colour or picture.ndim == 2 else np.ascontiguousarray(picture[:, :, 1]),
               np.array(Image.open(truth + mask).convert("L")) > 127)


def drawn(directory):
    from PIL import Image
    from scipy.io import loadmat
    for f in sorted(os.listdir(directory + "/groundTruth/test")):
        truth = loadmat(directory + "/groundTruth/test/" + f)["groundTruth"][0]
        drawings = sorted((t["Boundaries"][0, 0] > 0 for t in truth), key=np.sum)
        picture = Image.open(directory + "/images/test/" + f.replace(".mat", ".jpg"))
        yield np.array(picture.convert("RGB")), drawings[len(drawings) // 2]


def contrast(picture, mask):
    """By how much the lines are brighter than what is around them."""
    from scipy.ndimage import binary_dilation
    around = binary_dilation(mask, iterations=5) & ~mask
    return picture[mask].mean() - picture[around].mean() if around.any() else 0


def way(skeleton, a, b):
    """The shortest way along the skeleton, pixels (y, x); None: there is none."""
    best, heap, before = {a: 0}, [(0, a)], {}
    while heap:
        d, p = heapq.heappop(heap)
        if p == b:
            path = [b]
            while path[-1] != a:
                path.append(before[path[-1]])
            return np.array(path[::-1], float)
        if d > best[p]:
            continue
        for dy, dx in ROUND:
            q = p[0] + dy, p[1] + dx
            e = d + (1 if dy == 0 or dx == 0 else 2 ** .5)
            if q in skeleton and e < best.get(q, 1e9):
                best[q], before[q] = e, p
                heapq.heappush(heap, (e, q))
    return None


def smooth(path):
    """Resampled half a pixel apart after a Gaussian of 2 px, its ends kept; as (x, y)."""
    from scipy.ndimage import gaussian_filter1d
    p = path[:, ::-1]
    wide = np.vstack([2 * p[0] - p[8:0:-1], p, 2 * p[-1] - p[-2:-10:-1]])
    return dense(gaussian_filter1d(wide, 2, axis=0)[8:-8], .5)


def length(p):
    return np.hypot(*np.diff(p, axis=0).T).sum()


def dense(p, step):
    d = np.r_[0, np.cumsum(np.hypot(*np.diff(p, axis=0).T))]
    t = np.linspace(0, d[-1], int(d[-1] / step) + 2)
    return np.c_[np.interp(t, d, p[:, 0]), np.interp(t, d, p[:, 1])]


def draw(data, count, seed):
    """Pairs of clicks: dicts of picture, class, points a and b (x, y) and reference."""
    from skimage.morphology import skeletonize
    rng = np.random.default_rng(seed)
    pairs, skeletons = [], [np.argwhere(skeletonize(mask)) for mask in data.masks]
    sets = [set(map(tuple, s.tolist())) for s in skeletons]
    while len(pairs) < count * len(CLASSES):
        name, least, most, jitter = CLASSES[len(pairs) // count]
        i = int(rng.integers(len(skeletons)))
        if not len(skeletons[i]):
            continue
        a, b = (tuple(skeletons[i][k].tolist()) for k in rng.integers(len(skeletons[i]), size=2))
        if not least <= np.hypot(a[0] - b[0], a[1] - b[1]) <= most:
            continue
        path = way(sets[i], a, b)
        if path is None:
            continue
        reference = smooth(path)
        if length(reference) > MOST_DETOUR * np.hypot(*(path[0] - path[-1])):
            continue
        off = rng.normal(0, jitter, (2, 2)) if jitter else np.zeros((2, 2))
        h, w = data.masks[i].shape
        ends = np.clip(path[[0, -1]][:, ::-1] + off, 0, [w - 1, h - 1])
        pairs.append({"picture": i, "class": name, "a": ends[0], "b": ends[1], "way": reference})
    return skeletons, pairs


def judge(xy, pair, tree):
    """follows, mean distance, on lines."""
    from scipy.spatial import cKDTree
    p = dense(np.asarray(xy, float), .5)
    there = cKDTree(pair["way"]).query(p)[0]
    back = cKDTree(p).query(pair["way"])[0]
    return max(there.max(), back.max()) <= NEAR, max(there.mean(), back.mean()), tree.query(p)[0].max() <= NEAR


class Dptrace:
    """Polylines of all pairs of a picture in one run."""

    def __init__(self, directory, *options):
        self.name = " ".join(("dptrace",) + options)
        self.file = os.path.join(directory, "picture.pnm")
        self.lines = os.path.join(directory, "lines")
        self.options = options

    def trace(self, picture, pairs):
        height, width = picture.shape[:2]
        with open(self.file, "wb") as f:
            f.write(b"P%d %d %d 255\n" % (5 if picture.ndim == 2 else 6, width, height))
            f.write(picture.astype(np.uint8).tobytes())
        with open(self.lines, "w") as f:
            f.writelines("%f %f %f %f\n" % (*p["a"], *p["b"]) for p in pairs)
        out = subprocess.run(["dptrace", "-t", "1", "--stats", *self.options, "-f", self.lines, self.file], check=True,
                             capture_output=True, text=True)
        seconds = json.loads(out.stderr.splitlines()[-1])["seconds"]
        doubts = {int(n) for n in re.findall(r": line (\d+): ", out.stderr)}
        each = (seconds["plan"] + seconds["compute"]) / len(pairs)
        return [(np.array(text.split(), float).reshape(-1, 2), each, i in doubts)
                for i, text in enumerate(out.stdout.split("\n\n"))]


class Route:
    name = "scikit-image route_through_array"

    def __init__(self, data):
        self.data = data

    def evidence(self, picture):
        from scipy.ndimage import gaussian_gradient_magnitude
        from skimage.filters import sato
        if self.data.edges:
            return gaussian_gradient_magnitude(picture.mean(2), 1)
        gray = picture if picture.ndim == 2 else picture.mean(2)
        return sato(gray.astype(float), sigmas=[1.5, 2, 3], black_ridges=self.data.dark)

    def trace(self, picture, pairs):
        from skimage.graph import route_through_array
        evidence = self.evidence(picture)
        costs = 1 / (evidence / np.percentile(evidence, 99) + .03)
        for p in pairs:
            a, b = (np.rint(p[k]).astype(int)[::-1] for k in "ab")
            start = time.perf_counter()
            path, _ = route_through_array(costs, a, b)
            yield np.array(path, float)[:, ::-1], time.perf_counter() - start, False


class Scissors:
    name = "OpenCV intelligent scissors"

    def trace(self, picture, pairs):
        import cv2
        gray = picture if picture.ndim == 2 else np.rint(picture.mean(2)).astype(np.uint8)
        for p in pairs:
            ends = np.rint([p["a"], p["b"]]).astype(int)
            lo = np.maximum(ends.min(0) - 100, 0)
            hi = np.minimum(ends.max(0) + 101, gray.shape[::-1])
            tool = cv2.segmentation.IntelligentScissorsMB()
            tool.setEdgeFeatureCannyParameters(16, 100)
            tool.applyImage(np.ascontiguousarray(gray[lo[1]:hi[1], lo[0]:hi[0]]))
            start = time.perf_counter()
            tool.buildMap(tuple(int(v) for v in ends[0] - lo))
            path = tool.getContour(tuple(int(v) for v in ends[1] - lo))
            yield path.reshape(-1, 2).astype(float) + lo, time.perf_counter() - start, False


def report(tool, pictures, trees, pairs):
    rows, times = {c[0]: [] for c in CLASSES}, []
    for i, picture in enumerate(pictures):
        mine = [p for p in pairs if p["picture"] == i]
        for p, (xy, seconds, doubt) in zip(mine, tool.trace(picture, mine) if mine else ()):
            rows[p["class"]].append((*judge(xy, p, trees[i]), doubt))
            times.append(seconds)
    print("  %-32s %8.2f ms" % (tool.name, 1e3 * np.median(times)))
    for name, r in rows.items():
        r = np.array(r, float)
        good = r[:, 0] > 0
        line = "    %-10s follows %5.1f %%  distance %.2f px  on lines %5.1f %%" % (
            name, 100 * good.mean(), r[good, 1].mean(), 100 * r[:, 2].mean())
        if isinstance(tool, Dptrace):
            line += "  warned %4.1f %%  missed %4.1f %%" % (100 * r[good, 3].mean(), 100 * (1 - r[~good, 3]).mean())
        print(line, flush=True)
    if isinstance(tool, Dptrace):
        good, _, _, doubt = np.concatenate(list(rows.values())).astype(bool).T
        wrong = ~good
        print("    %d warnings, %d of them of the %d that do not follow" % (doubt.sum(), (doubt & wrong).sum(), wrong.sum()))


def peers(data):
    try:
        import cv2
        return [Route(data), Scissors()]
    except ImportError:
        print("  cv2 is not installed")
        return [Route(data)]


def main():
    where = os.environ.get("WEIR_LINES")
    if not where:
        print("not run: WEIR_LINES names no directory of pictures and masks of lines")
        return
    for module in ("PIL", "scipy", "skimage"):
        try:
            __import__(module)
        except ImportError:
            print("not run: the Python module %s is not installed" % module)
            return
    from scipy.spatial import cKDTree
    data = Pictures(where)
    skeletons, pairs = draw(data, int(os.environ.get("WEIR_PAIRS", "120")), int(os.environ.get("WEIR_SEED", "7")))
    trees = [cKDTree(s[:, ::-1]) if len(s) else None for s in skeletons]
    print("%d pairs of points a class on %d pictures" % (len(pairs) // len(CLASSES), len(data.pictures)))
    with tempfile.TemporaryDirectory() as directory:
        mine = [["--score=edge"]] if data.edges else [[], ["-s", "2"]]
        tools = [Dptrace(directory, *options) for options in mine]
        tools += peers(data) if os.environ.get("WEIR_PEERS") != "0" else []
        for tool in tools:
            report(tool, data.pictures, trees, pairs)


if __name__ == "__main__":
    main()
