# A recipe for Spack. `make recipes` fills in what stands between at signs.
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack.package import *


class Weir(MakefilePackage):
    """Filters for images and signals, which the shell connects to pipelines:
    Fourier transforms on nonequispaced points, the Radon transform of seismic
    gathers, convolution with a kernel that varies over the image,
    morphological reconstruction, the Euclidean minimum spanning tree, the best
    polyline along a linear object; and small programs that read and write PNM,
    PNG, NumPy, FITS, TIFF, SU and SEG-Y."""

    homepage = "@HOMEPAGE@"
    url = "@URL@"

    license("ISC")

    version("@VERSION@", sha256="@SHA256@")

    variant("cuda", default=False, description="Build the programs for NVIDIA's GPUs")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("gmake", type="build")
    depends_on("cfitsio")
    depends_on("fftw@3: precision=float,double")
    depends_on("jansson")
    depends_on("libpng")
    depends_on("libtiff")
    depends_on("netpbm")
    depends_on("wcslib")
    depends_on("cuda", when="+cuda")

    conflicts("platform=darwin", msg="weir is for Linux")

    @property
    def arguments(self):
        nvcc = join_path(self.spec["cuda"].prefix.bin, "nvcc") if "+cuda" in self.spec else ""
        return ["NVCC=" + nvcc, "PREFIX=" + self.prefix]

    def build(self, spec, prefix):
        make(*self.arguments)

    def install(self, spec, prefix):
        make(*self.arguments, "install")
