# needs: numpy, scipy
"""The small programs beside their peers, as front.py has the others: whole processes of ours on one thread, from files to /dev/null, at
two levels of instructions. Peers work in memory, but SWarp and source-extractor are whole processes too. In brackets: how many
times as long as ours at the higher level.
"""
import os, subprocess
import numpy as np
from front import load, sh, table

os.environ["OMP_NUM_THREADS"] = "1"


def process(command):
    return lambda: subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def there(program):
    return subprocess.run(["sh", "-c", f"command -v {program}"], stdout=subprocess.DEVNULL).returncode == 0


def distances():
    sh("gen smooth 2048 2048 8 >g.pgm; rawmath --type=uchar 'a > 128' g.pgm >d.pgm")
    picture = load("d.pgm")
    peers = {}
    try:
        from scipy.ndimage import distance_transform_edt
        peers["SciPy"] = lambda: distance_transform_edt(picture)
        import cv2
        cv2.setNumThreads(1)
        peers["OpenCV, precise"] = lambda: cv2.distanceTransform(picture, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    except ImportError:
        pass
    return "`rawdist`", "2048x2048 pixels of smooth noise", "rawdist -t 1 d.pgm", peers


def sky(n, sources, file):
    """A frame of n x n with stars of 1.8 pixels, as a FITS file, a raw item and an array."""
    rng = np.random.default_rng(1)
    frame = rng.normal(100, 5, (n, n)).astype(np.float32)
    y, x = np.mgrid[:25, :25] - 12
    for cx, cy, flux in zip(*rng.uniform(12, n - 13, (2, sources)), 10 ** rng.uniform(2.5, 5, sources)):
        i, j = int(cy), int(cx)
        spot = np.exp(-((x - cx + j) ** 2 + (y - cy + i) ** 2) / (2 * 1.8 ** 2))
        frame[i - 12:i + 13, j - 12:j + 13] += flux * spot / spot.sum()
    np.save(file, frame)
    sh(f"pgmtoraw {file}.npy >{file}.nrrd; rawtofits -o {file}.fits {file}.nrrd")
    return frame


def background():  # leaves its frame to those that follow
    frame = sky(4096, 10000, "sky")
    peers = {}
    try:
        import sep

        def both():
            b = sep.Background(frame)
            frame - b.back()
        peers["sep"] = both
    except ImportError:
        pass
    return "`rawback`", "4096x4096 floats, the background taken away", "rawback -t 1 --subtract sky.nrrd", peers


def apertures():
    rng = np.random.default_rng(2)
    frame, at = np.load("sky.npy"), rng.uniform(10, 4085, (100000, 2))
    with open("at.csv", "w") as f:
        f.write("x,y\n" + "".join(f"{x:.3f},{y:.3f}\n" for x, y in at))
    peers = {}
    try:
        import sep
        peers["sep"] = lambda: sep.sum_circle(frame, at[:, 0], at[:, 1], 5., subpix=0)
        from photutils.aperture import CircularAperture, aperture_photometry
        peers["photutils"] = lambda: aperture_photometry(frame, CircularAperture(at, 5), method="exact")
    except ImportError:
        pass
    return "`rawphot`", "100000 circles of 5 samples", "rawphot -t 1 --at=at.csv --radius=5 sky.nrrd", peers


def catalogue():
    peers = {}
    if there("source-extractor"):
        for name in ("default.param", "default.conv", "default.nnw", "default.sex"):
            sh(f"cp /usr/share/source-extractor/{name} .")
        with open("default.param", "w") as f:
            f.write("NUMBER\nX_IMAGE\nY_IMAGE\nFLUX_AUTO\nFLUXERR_AUTO\nA_IMAGE\nB_IMAGE\nTHETA_IMAGE\nFLAGS\n")
        peers["source-extractor"] = process("source-extractor -NTHREADS 1 sky.fits -c default.sex -CATALOG_NAME out.cat")
    return "`weir sources`", "4096x4096 floats, 10000 stars", "weir sources -t 1 sky.fits", peers


def warp(kernel):
    def job():
        cards = ("CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRPIX1  = 2048.", "CRPIX2  = 2048.", "CRVAL1  = 150.", "CRVAL2  = 2.")
        for name, turn in (("from", 0), ("to", .1)):
            c, s = 1e-4 * np.cos(turn), 1e-4 * np.sin(turn)
            cd = (f"CD1_1   = {-c:.12E}", f"CD1_2   = {s:.12E}", f"CD2_1   = {s:.12E}", f"CD2_2   = {c:.12E}")
            with open("sky.fits", "rb") as f:
                data = f.read()[2880:]
            head = ["SIMPLE  = T", "BITPIX  = -32", "NAXIS   = 2", "NAXIS1  = 4096", "NAXIS2  = 4096", *cards, *cd, "END"]
            text = "".join((f"{h[:10]}{h[10:]:>20}" if h[8:9] == "=" and "'" not in h else h).ljust(80) for h in head)
            with open(name + ".fits", "wb") as f:
                f.write(text.ljust(-(-len(text) // 2880) * 2880).encode() + data)
        sh("fitstoraw from.fits >from.nrrd; fitstoraw to.fits >to.nrrd")
        peers = {}
        if there("SWarp"):
            with open("to.fits", "rb") as f, open("coadd.head", "wb") as g:
                g.writelines(f.read(80 * i and 80) + b"\n" for i in [1] * 16)
            method = {"lanczos3": "LANCZOS3", "linear": "BILINEAR"}[kernel]
            peers["SWarp"] = process(f"SWarp from.fits -RESAMPLING_TYPE {method} -SUBTRACT_BACK N -NTHREADS 1 -VERBOSE_TYPE QUIET "
                                     "-COMBINE N -RESAMPLE_SUFFIX .o.fits -WRITE_XML N")
        if kernel == "linear":
            try:
                from astropy.io import fits
                from astropy.wcs import WCS
                from reproject import reproject_interp
                a, b = (fits.open(name)[0] for name in ("from.fits", "to.fits"))
                peers["reproject"] = lambda: reproject_interp((a.data, WCS(a.header)), WCS(b.header), shape_out=(4096, 4096))
            except ImportError:
                pass
        return "`rawwarp`", f"4096x4096 floats onto a turned TAN, {kernel}", f"rawwarp -t 1 --kernel={kernel} --like=to.nrrd from.nrrd", peers
    return job


def watershed():
    sh("gen --type=float smooth 2048 2048 8 >h.nrrd; gen seeds 2048 2048 4000 >s.pgm; rawlabel s.pgm >s.nrrd")
    heights, markers = load("h.nrrd"), load("s.nrrd")
    peers = {}
    try:
        from skimage.segmentation import watershed as flood
        peers["scikit-image"] = lambda: flood(-heights, markers)
    except ImportError:
        pass
    return "`rawlabel`", "watershed of 2048x2048 floats, 4000 markers", "rawlabel --above=-1 --markers=s.nrrd h.nrrd", peers


def classes():
    sh("gen --type=uchar smooth 1050 352 20 | rawmath --type=uchar a - | rawtonpy -o bands.npy")
    pixels = np.load("bands.npy").reshape(352, 350, 3)
    np.save("bands.npy", pixels)
    peers = {}
    try:
        from sklearn.cluster import KMeans
        peers["scikit-learn KMeans, one start"] = lambda: KMeans(8, n_init=1, random_state=0).fit_predict(pixels.reshape(-1, 3).astype(float))
    except ImportError:
        pass
    return "`rawpalette`", "8 classes of 350x352 pixels of 3 bands", "rawpalette -t 1 --image --colours=8 --to=labels bands.npy", peers


def robust():
    from scipy.stats import median_abs_deviation
    frame = np.load("sky.npy")
    return "`rawinfo`", "--robust of 4096x4096 floats", "rawinfo --robust sky.nrrd", {
        "SciPy, the median of deviations": lambda: median_abs_deviation(frame, axis=None)}


table((distances, background, apertures, catalogue, warp("lanczos3"), warp("linear"), watershed, classes, robust),
      "| program | work | AVX-512 | AVX2 | peers |", True)
