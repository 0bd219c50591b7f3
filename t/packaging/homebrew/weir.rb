# A formula for Homebrew on Linux. `make recipes` fills in what stands between at signs.
class Weir < Formula
  desc "Filters for images and signals, which the shell connects to pipelines"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "ISC"

  depends_on "cfitsio"
  depends_on "fftw"
  depends_on "jansson"
  depends_on "libpng"
  depends_on "libtiff"
  depends_on :linux
  depends_on "netpbm"
  depends_on "wcslib"

  def install
    system "make", "NVCC="
    system "make", "NVCC=", "PREFIX=#{prefix}", "install"
  end

  test do
    (testpath/"range.pgm").write "P2 3 1 9 1 9 1\n"
    assert_match "max: 3", shell_output("#{bin}/morphrec --hdome=3 range.pgm | #{bin}/rawinfo")
    assert_match version.to_s, shell_output("#{bin}/weir --version")
  end
end
