# needs: numpy, PIL
"""Photographs in few colours: rawpalette and what else reduces colours, without and with dithering.

The directory that WEIR_PHOTOS names holds photographs as PPM or PNG files. The words of WEIR_COLOURS are the numbers of
colours, otherwise 8, 16, 64 and 256. WEIR_RUNS is the number of runs of each method in turn, otherwise 3.

A figure of error is the mean over the photographs of the peak signal to noise ratio of all samples in dB. A photograph is
behind when this ratio is lower by more than .0005 dB. A figure of time is the mean over the photographs of the median of the
runs, in ms. The programs are timed as whole runs, which read a file and write one: PPM for rawpalette and pnmquant, PNG for
pngquant. libimagequant and Pillow are called directly, from pixels in memory to indices and a table in memory.
With dithering, pictures are compared after a blur by a Gaussian of one pixel, since the eye blurs too.
"""
import ctypes, glob, io, os, subprocess, tempfile, time
import numpy as np
from PIL import Image


def run(command, path):
    with open(path, "rb") as f:
        return subprocess.run(command, check=True, stdin=f, stdout=subprocess.PIPE).stdout


def picture(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def imagequant():
    """libimagequant with its defaults, as a function of RGBA pixels and the number of colours."""
    lib = ctypes.CDLL("libimagequant.so.0")
    for name in "liq_attr_create liq_image_create_rgba".split():
        getattr(lib, name).restype = ctypes.c_void_p
    lib.liq_get_palette.restype = ctypes.POINTER(ctypes.c_uint)
    p, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int

    def reduce(rgba, k):
        h, w = rgba.shape[:2]
        index = np.empty((h, w), np.uint8)
        attr = p(lib.liq_attr_create())
        lib.liq_set_max_colors(attr, k)
        image = p(lib.liq_image_create_rgba(attr, p(rgba.ctypes.data), number(w), number(h), ctypes.c_double(0)))
        result = p()
        if lib.liq_image_quantize(image, attr, ctypes.byref(result)):
            raise RuntimeError("libimagequant failed")
        lib.liq_set_dithering_level(result, ctypes.c_float(0))
        lib.liq_write_remapped_image(result, image, p(index.ctypes.data), size(index.size))
        got = lib.liq_get_palette(result)
        table = np.array(got[1:257], np.uint32).view(np.uint8).reshape(-1, 4)[:, :3]
        lib.liq_result_destroy(result)
        lib.liq_image_destroy(image)
        lib.liq_attr_destroy(attr)
        return table, index

    return reduce


class Photo:
    def __init__(self, source, where):
        image = Image.open(source).convert("RGB")
        self.rgb, self.image = np.asarray(image), image
        self.rgba = np.ascontiguousarray(image.convert("RGBA"))
        self.ppm, self.png = where + "/photo.ppm", where + "/photo.png"
        image.save(self.ppm)
        image.save(self.png, compress_level=1)


def methods():
    """name: (function of photo and colours, what makes a picture of its result)"""
    found = {
        "rawpalette": (lambda p, k: run(["rawpalette", "--colours=%d" % k], p.ppm), picture),
        "rawpalette, 1 thread": (lambda p, k: run(["rawpalette", "-t1", "--colours=%d" % k], p.ppm), picture),
    }
    try:
        liq = imagequant()
        found["libimagequant"] = (lambda p, k: liq(p.rgba, k), lambda r: r[0][r[1]])
    except OSError:
        print("left out: libimagequant is not installed")
    add_programs(found, (
        ("pngquant --nofs", lambda k: ["pngquant", "--nofs", str(k), "-"], "png"),
        ("pnmquant -nofs", lambda k: ["pnmquant", "-quiet", "-nofs", str(k)], "ppm"),
    ))
    found["Pillow, k-means"] = (
        lambda p, k: p.image.quantize(k, method=Image.Quantize.MEDIANCUT, kmeans=1, dither=Image.Dither.NONE),
        lambda image: np.asarray(image.convert("RGB")))
    return found


def add_programs(found, programs):
    for name, command, file in programs:
        try:
            subprocess.run(command(2)[:1] + ["--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except FileNotFoundError:
            print("left out: %s is not installed" % name.split()[0])
            continue
        found[name] = (lambda p, k, c=command, f=file: run(c(k), getattr(p, f)), picture)


def dithering_methods():
    found = {}
    add_programs(found, (
        ("rawpalette --dither", lambda k: ["rawpalette", "--colours=%d" % k, "--dither"], "ppm"),
        ("pngquant", lambda k: ["pngquant", str(k), "-"], "png"),
        ("pnmquant -fs", lambda k: ["pnmquant", "-quiet", "-fs", str(k)], "ppm"),
    ))
    return found


def psnr(a, b):
    return 10 * np.log10(255**2 / max(np.mean((a.astype(float) - b) ** 2), 1e-9))


def blurred(x):
    """x after a Gaussian of one pixel; the border is repeated."""
    weights = np.exp(-np.arange(-4, 5) ** 2 / 2)
    x = np.pad(x.astype(float), ((4, 4), (4, 4), (0, 0)), "edge")
    for axis in 0, 1:
        n = x.shape[axis] - 8
        x = sum(w * np.take(x, range(i, i + n), axis) for i, w in enumerate(weights / weights.sum()))
    return x


def main():
    where = os.environ.get("WEIR_PHOTOS")
    if not where:
        print("not run: WEIR_PHOTOS names no directory of photographs")
        return
    colours = [int(k) for k in os.environ.get("WEIR_COLOURS", "8 16 64 256").split()]
    runs = int(os.environ.get("WEIR_RUNS", "3"))
    plain, dithering = methods(), dithering_methods()
    use = {**plain, **dithering}
    error, cost = {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        files = sorted(glob.glob(where + "/*.p[pn][mg]"))
        for photo in (Photo(f, scratch) for f in files):
            for k in colours:
                times = {name: [] for name in use}
                for _ in range(runs):
                    for name, (reduce, see) in use.items():
                        start = time.perf_counter()
                        result = reduce(photo, k)
                        times[name].append(time.perf_counter() - start)
                        if len(times[name]) == 1:
                            view = blurred if name in dithering else np.asarray
                            error.setdefault((name, k), []).append(psnr(view(photo.rgb), view(see(result))))
                for name in use:
                    cost.setdefault((name, k), []).append(1e3 * np.median(times[name]))
    print("%d photographs%19s" % (len(files), ""), *("%8d" % k for k in colours), " colours")
    for group, unit in (plain, "dB"), (dithering, "dB after a blur"):
        for name in group:
            print("%-32s" % name, *("%8.2f" % np.mean(error[name, k]) for k in colours), "", unit)
        ours = next(iter(group))
        for name in (n for n in group if not n.startswith("rawpalette")):
            lead = [np.array(error[ours, k]) - error[name, k] for k in colours]
            print("%-32s" % ("rawpalette is behind " + name), *("%8d" % np.sum(x < -.0005) for x in lead),
                  " photographs; least lead", "%.3f dB" % min(x.min() for x in lead))
    for name in use:
        print("%-32s" % name, *("%8.1f" % np.mean(cost[name, k]) for k in colours), " ms")


main()
