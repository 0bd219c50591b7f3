# needs: numpy, scipy
"""dptrace on generated lines of known course (gen_dptrace), default options, seeds 201 to 248.

For each object and noise the mean distance to the course in px, both ways, the larger; in brackets that of the worst
picture; and how many of the pictures it lost, where the distance is 3 px or more, of how many, and how many of those had a
warning. The mean and the worst are of the others.
"""
import os, re, subprocess, tempfile
import numpy as np

SEEDS = range(201, 249)
ROWS = [(kind, noise, 2, ()) for kind in ("line", "edge", "gap", "crossings") for noise in (.5, 1, 1.5, 2)]
ROWS += [("loop", noise, clicks, ()) for clicks in (5, 2) for noise in (.5, 1)]
ROWS += [("fold", .5, 5, ()), ("fold", .5, 9, ("--spacing=10",))]


def dense(p):
    d = np.r_[0, np.cumsum(np.hypot(*np.diff(p, axis=0).T))]
    t = np.linspace(0, d[-1], int(8 * d[-1]) + 2)
    return np.c_[np.interp(t, d, p[:, 0]), np.interp(t, d, p[:, 1])]


def trace(directory, kind, noise, seed, clicks, options):
    """The distance of the polyline to the course, and whether there was a warning."""
    from scipy.spatial import cKDTree
    scene = ["gen_dptrace", kind, str(noise), str(seed)]
    name, lines = os.path.join(directory, "scene.nrrd"), os.path.join(directory, "lines")
    with open(name, "wb") as f:
        subprocess.run(scene, check=True, stdout=f)
    with open(lines, "wb") as f:
        subprocess.run(scene + [str(clicks)], check=True, stdout=f)
    out = subprocess.run(["dptrace", "-t", "1", "--score=" + ("edge" if kind == "edge" else "ridge"), *options, "-f",
                          lines, name], check=True, capture_output=True, text=True)
    course = subprocess.run(scene + ["600"], check=True, capture_output=True, text=True).stdout
    truth, xy = np.array(course.split(), float).reshape(-1, 2), dense(np.array(out.stdout.split(), float).reshape(-1, 2))
    distance = max(cKDTree(dense(truth)).query(xy)[0].mean(), cKDTree(xy).query(truth)[0].mean())
    return distance, bool(re.search(r": line \d+: ", out.stderr))


def main():
    with tempfile.TemporaryDirectory() as directory:
        for kind, noise, clicks, options in ROWS:
            e = np.array([trace(directory, kind, noise, seed, clicks, options) for seed in SEEDS])
            lost = e[:, 0] >= 3
            good = e[~lost, 0]
            print("  %-36s noise %-3g  %s px, lost %d of %d, %d of them warned of, %d of the others" % (
                " ".join(("%s, %d points" % (kind, clicks),) + options), noise,
                "%.2f (%.2f)" % (good.mean(), good.max()) if len(good) else "-", lost.sum(), len(e), e[lost, 1].sum(),
                e[~lost, 1].sum()), flush=True)


if __name__ == "__main__":
    main()
