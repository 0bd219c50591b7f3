# needs: numpy
"""The files and the work of fields, beside the libraries that their people call: SEG-Y, TIFF, maps, k-space, classes of points. Ours are
whole processes on one thread, from files to /dev/null or to a file, at two levels of instructions. Peers work in memory on one
thread, and read and write files where ours do. In brackets: how many times as long as ours at the higher level.
"""
import os, warnings
os.environ.update(OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1", GDAL_NUM_THREADS="1")
import numpy as np
from front import load, sh, table

warnings.simplefilter("ignore")
MAP = "geotransform:={} {} {} {} {} {}\\ncrs:=EPSG:32633"
TILES = {"tiled": True, "blockxsize": 256, "blockysize": 256, "predictor": 2}


def segy():
    sh("gen --type=float smooth 2000 16000 9 | sed '0,/^endian/s/^endian/spacings: .002 nan\\nendian/' | rawtosegy --format=ibm -o a.sgy")
    peers = {}
    try:
        import segyio

        def read():
            with segyio.open("a.sgy", ignore_geometry=True) as f:
                return f.trace.raw[:], f.attributes(segyio.TraceField.CDP)[:], f.attributes(segyio.TraceField.offset)[:]
        peers["segyio"] = read
    except ImportError:
        pass
    return "`segytoraw`", "16000 traces of 2000 IBM floats", "segytoraw a.sgy", peers


def to_segy():
    sh("segytoraw a.sgy >a.nrrd")
    traces = load("a.nrrd").reshape(16000, 2000)
    peers = {}
    try:
        import shutil
        import segyio

        def write():
            shutil.copyfile("a.sgy", "b.sgy")
            with segyio.open("b.sgy", "r+", ignore_geometry=True) as f:
                f.trace.raw[:] = traces
        peers["segyio, into a copy"] = write
    except ImportError:
        pass
    return "`rawtosegy`", "the same, back under its headers", "rawtosegy --headers=a.sgy -o o.sgy a.nrrd", peers


def tiff(codec):
    def job():
        sh("gen --type=ushort smooth 4096 4096 20 >p.pgm; pgmtoraw p.pgm >p.nrrd")
        sh(f"rawtotiff --compress={codec} --tile=256 -o p-{codec}.tif p.nrrd")
        peers = {}
        try:
            import tifffile, imagecodecs
            peers["tifffile with imagecodecs"] = lambda: tifffile.imread(f"p-{codec}.tif", maxworkers=1)
        except ImportError:
            pass
        try:
            import rasterio

            def read():
                with rasterio.open(f"p-{codec}.tif") as f:
                    return f.read(1)
            peers["rasterio"] = read
        except ImportError:
            pass
        return "`tifftoraw`", f"4096x4096 ushort, tiles, {codec}", f"tifftoraw p-{codec}.tif", peers
    return job


def to_tiff():
    picture = load("p.nrrd")
    peers = {}
    try:
        import tifffile, imagecodecs
        peers["tifffile with imagecodecs"] = lambda: tifffile.imwrite(
            "q.tif", picture, compression="zlib", predictor=True, tile=(256, 256), maxworkers=1)
    except ImportError:
        pass
    try:
        import rasterio

        def write():
            with rasterio.open("r.tif", "w", driver="GTiff", width=4096, height=4096, count=1, dtype="uint16",
                               compress="deflate", **TILES) as f:
                f.write(picture, 1)
        peers["rasterio"] = write
    except ImportError:
        pass
    return "`rawtotiff`", "the same, deflate", "rawtotiff --compress=deflate --tile=256 -o o.tif p.nrrd", peers


def warp(kernel, theirs):
    def job():
        c, s = 10 * np.cos(.1), 10 * np.sin(.1)
        places = {"from": (5e5, 10, 0, 6e6, 0, -10), "to": (5e5, c, s, 6e6, s, -c)}
        for name, place in places.items():
            sh(f"gen --type=float smooth 4096 4096 9 | sed '0,/^endian/s/^endian/{MAP.format(*place)}\\nendian/' >{name}.nrrd")
        peers = {}
        try:
            from rasterio import Affine
            from rasterio.warp import Resampling, reproject
            picture, out = load("from.nrrd"), np.empty((4096, 4096), np.float32)
            a, b = (Affine(p[1], p[2], p[0], p[4], p[5], p[3]) for p in places.values())
            peers["rasterio (GDAL)"] = lambda: reproject(
                picture, out, src_transform=a, dst_transform=b, src_crs="EPSG:32633", dst_crs="EPSG:32633",
                resampling=Resampling[theirs], num_threads=1, XSCALE=1, YSCALE=1)
        except ImportError:
            pass
        return "`rawwarp`", f"4096x4096 floats of a map, turned, {kernel}", f"rawwarp -t 1 --kernel={kernel} --like=to.nrrd from.nrrd", peers
    return job


def coils():
    angle, radius = np.meshgrid(np.arange(400) * np.pi / 400, np.arange(-256, 256) / 512, indexing="ij")
    places = np.stack((radius * np.cos(angle), radius * np.sin(angle)), -1).reshape(-1, 2).astype(np.float32)
    rng = np.random.default_rng(3)
    values = (rng.standard_normal((8, len(places), 2)).astype(np.float32)).view(np.complex64)[..., 0]
    with open("k.nrrd", "wb") as f:
        f.write(b"NRRD0005\ntype: float\ndimension: 2\nsizes: 2 %d\nkinds: list domain\nendian: little\nencoding: raw\n\n" % len(places))
        f.write(places.tobytes())
        for coil in values:
            f.write(b"NRRD0005\ntype: float\ndimension: 2\nsizes: 2 %d\nkinds: complex domain\nendian: little\nencoding: raw\n\n" % len(places))
            f.write(coil.tobytes())
    peers = {}
    try:
        import sigpy
        index = places[:, ::-1] * 256
        peers["SigPy"] = lambda: sigpy.nufft_adjoint(values, index, (8, 256, 256))
    except ImportError:
        pass
    try:
        import mrinufft
        operator = mrinufft.get_operator("finufft")(places[:, ::-1], (256, 256), n_coils=8, eps=1e-3, nthreads=1)
        peers["MRI-NUFFT with FINUFFT, planned before"] = lambda: operator.adj_op(values)
    except ImportError:
        pass
    return "`usfft`", "8 coils of 400 spokes of 512, 256x256 pixels, 1e-3", "usfft -t 1 -T 2 --adjoint --batch -n 256,256 -e 1e-3 k.nrrd", peers


def crowds():
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.normal(rng.uniform(0, 100, 3), rng.uniform(.5, 2), (1800, 3)) for _ in range(50)] +
                            [rng.uniform(0, 100, (10000, 3))])
    np.save("crowds.npy", points)
    peers = {}
    try:
        import fast_hdbscan
        peers["fast_hdbscan"] = lambda: fast_hdbscan.HDBSCAN(min_cluster_size=10).fit_predict(points)
        peers["fast_hdbscan"]()
    except ImportError:
        pass
    try:
        import hdbscan
        peers["hdbscan"] = lambda: hdbscan.HDBSCAN(min_cluster_size=10, core_dist_n_jobs=1).fit_predict(points)
    except ImportError:
        pass
    return "`emst`", "--min-pts=10 of 100000 points in 3 dimensions", "emst -t 1 --points --min-pts=10 --to=labels crowds.npy", peers


table((segy, to_segy, tiff("deflate"), tiff("lzw"), tiff("zstd"), to_tiff, warp("lanczos3", "lanczos"), warp("cubic", "cubic"),
       warp("linear", "bilinear"), coils, crowds), "| program | work | AVX-512 | AVX2 | peers |", True)
