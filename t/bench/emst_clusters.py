# needs: numpy, sklearn.cluster
"""Classes of points by emst, k-means and single linkage, beside classes that people have drawn or know.

The directory that WEIR_CLUSTERS names holds batteries, directories of sets as in clustering-data-v1 (Gagolewski 2022): the
points in NAME.data.gz, the labels in NAME.labels0.gz, NAME.labels1.gz, ... Sets of more than 12000 points are left out. The
words of WEIR_BATTERIES are the batteries to take; otherwise all are taken.

A figure is the mean over the sets of the adjusted Rand index (Hubert and Arabie 1985), of each set the best over its
labelings. Points that a labeling leaves out, with label 0, do not count in it. Methods that take the number of classes get
that of the labeling.
"""
import glob, gzip, os, subprocess
import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score

MOST = 12000
TYPES = {"uchar": "u1", "ushort": "<u2", "uint": "<u4"}


def emst(points, *options):
    """The class of each point; 0: none."""
    head = ("NRRD0005\ntype: double\ndimension: 2\nsizes: %d %d\nkinds: list domain\nendian: little\n"
            "encoding: raw\n\n" % points.shape[::-1])
    out = subprocess.run(["emst", "--quiet", "--to=labels", *options], check=True, stdout=subprocess.PIPE,
                         input=head.encode() + points.astype("<f8").tobytes()).stdout
    header, payload = out.split(b"\n\n", 1)
    kind = next(line for line in header.decode().split("\n") if line.startswith("type: "))
    return np.frombuffer(payload, TYPES[kind[6:]]).astype(int)


METHODS = {
    "default": lambda x, k: emst(x),
    "--min-pts=10": lambda x, k: emst(x, "--min-pts=10"),
    "--min-pts=10 --fill": lambda x, k: emst(x, "--min-pts=10", "--fill"),
    "-k, k known": lambda x, k: emst(x, "-k%d" % k),
    "--cut=length -k, k known": lambda x, k: emst(x, "--cut=length", "-k%d" % k),
    "--min-pts=5 -k, k known": lambda x, k: emst(x, "--min-pts=5", "-k%d" % k),
    "--min-pts=5 --genie -k": lambda x, k: emst(x, "--min-pts=5", "--genie", "-k%d" % k),
    "--genie=1 -k, k known": lambda x, k: emst(x, "--genie=1", "-k%d" % k),
    "k-means, k known": lambda x, k: KMeans(k, n_init=10, random_state=0).fit_predict(x),
    "HDBSCAN, 10 points": lambda x, k: HDBSCAN(min_cluster_size=10, copy=True).fit_predict(x) + 1,
    "Ward, k known": lambda x, k: AgglomerativeClustering(k, linkage="ward").fit_predict(x),
}
try:
    import genieclust
    METHODS["genieclust, k known"] = lambda x, k: genieclust.Genie(n_clusters=int(k)).fit_predict(x)
except ImportError:
    pass


def load(battery):
    """(points, labelings) of each set."""
    for path in sorted(glob.glob(battery + "/*.data.gz")):
        with gzip.open(path) as f:
            points = np.loadtxt(f, ndmin=2)
        if len(points) > MOST:
            continue
        names = sorted(glob.glob(path[:-len("data.gz")] + "labels*.gz"))
        yield points, [np.loadtxt(gzip.open(name), dtype=int).ravel() for name in names]


def best(method, points, labelings):
    found = {}
    for want in labelings:
        k = want.max()
        if k not in found:
            found[k] = METHODS[method](points, k)
    return max(adjusted_rand_score(want[want > 0], found[want.max()][want > 0]) for want in labelings)


def main():
    where = os.environ.get("WEIR_CLUSTERS")
    if not where:
        print("not run: WEIR_CLUSTERS names no directory of labelled points")
        return
    wanted = os.environ.get("WEIR_BATTERIES", "").split()
    batteries = wanted or sorted(d for d in os.listdir(where) if glob.glob("%s/%s/*.data.gz" % (where, d)))
    index = {method: {} for method in METHODS}
    for battery in batteries:
        for points, labelings in load("%s/%s" % (where, battery)):
            for method in METHODS:
                index[method].setdefault(battery, []).append(best(method, points, labelings))
    sets = index["default"]
    print("%-26s" % "mean adjusted Rand index", *("%8s" % b for b in sets), "%8s" % "all")
    print("%-26s" % "sets", *("%8d" % len(s) for s in sets.values()), "%8d" % sum(map(len, sets.values())))
    for method, found in index.items():
        every = [x for s in found.values() for x in s]
        print("%-26s" % method, *("%8.3f" % np.mean(s) for s in found.values()), "%8.3f" % np.mean(every))


main()
