#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/die.h"
#include "common/stream/formats.h"

#define MAGIC(text)	text, sizeof(text) - 1
#define UNPACK(name)	name "; unpack it with " name " -dc"
#define AS_TIFF		"; make TIFF of it with gdal_translate, and see tifftoraw"
#define AS_NPY(library) "; save its samples as .npy in Python, by " library " and numpy.save"

static const struct {
	size_t at; /* where the magic begins, within FOREIGN_MAGIC bytes */
	const char *magic;
	size_t n;
	const char *what;
	const char *programs; /* those of ours that read it; NULL: none does */
} formats[] = {
    {0, MAGIC("\x89PNG"), "PNG; convert it with pngtoraw", "pngtoraw"},
    {0, MAGIC("\xff\xd8\xff"), "JPEG; convert it with jpegtopnm", NULL},
    {0, MAGIC("II*\0"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {0, MAGIC("MM\0*"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {0, MAGIC("II+\0"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {0, MAGIC("MM\0+"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {0, MAGIC("SIMPLE  "), "FITS; convert it with fitstoraw", "fitstoraw"},
    {0, MAGIC("\xc3\x40\xf1\x40"), "SEG-Y; convert it with segytoraw", "segytoraw rawtosegy"},
    {0, MAGIC("\xc3\xf0\xf1\x40"), "SEG-Y; convert it with segytoraw", "segytoraw rawtosegy"},
    {0, MAGIC("C 1 "), "SEG-Y; convert it with segytoraw", "segytoraw rawtosegy texttoraw"},
    {0, MAGIC("C01 "), "SEG-Y; convert it with segytoraw", "segytoraw rawtosegy texttoraw"},
    {0, MAGIC("GIF8"), "GIF; convert it with giftopnm", NULL},
    {0, MAGIC("BM"), "BMP; convert it with bmptopnm", "texttoraw"},
    {8, MAGIC("WEBP"), "WebP; convert it with dwebp -ppm", NULL},
    {8, MAGIC("WAVE"), "a sound" AS_NPY("scipy.io.wavfile"), NULL},
    {4, MAGIC("ftyp"), "HEIF, AVIF or a film; convert it with heif-convert or ffmpeg", NULL},
    {4, MAGIC("jP  "), "JPEG 2000; convert it with jpeg2ktopam", NULL},
    {0, MAGIC("\xff\x4f\xff\x51"), "JPEG 2000; convert it with jpeg2ktopam", NULL},
    {4, MAGIC("JXL "), "JPEG XL; convert it with djxl, to PPM", NULL},
    {0, MAGIC("\xff\x0a"), "JPEG XL; convert it with djxl, to PPM", NULL},
    {0, MAGIC("\x76\x2f\x31\x01"), "OpenEXR; make PFM or TIFF of it, and see tifftoraw", NULL},
    {0, MAGIC("#?RADIAN"), "Radiance; convert it with pfsin and pfsout, to PFM", NULL},
    {0, MAGIC("8BPS"), "a Photoshop file; save it as TIFF, and see tifftoraw", NULL},
    {0, MAGIC("farbfeld"), "farbfeld; convert it with ff2pam", NULL},
    {0, MAGIC("%PDF"), "PDF; convert its pages with pdftoppm", NULL},
    {0, MAGIC("%!PS"), "PostScript; convert its pages with pstopnm", NULL},
    {0, MAGIC("\x89HDF\r\n"), "HDF5" AS_NPY("h5py"), NULL},
    {0, MAGIC("MATLAB 7"), "a MATLAB file in HDF5" AS_NPY("h5py"), NULL},
    {0, MAGIC("MATLAB 5"), "a MATLAB file" AS_NPY("scipy.io.loadmat"), NULL},
    {0, MAGIC("CDF\1"), "NetCDF" AS_NPY("netCDF4"), NULL},
    {0, MAGIC("CDF\2"), "NetCDF" AS_NPY("netCDF4"), NULL},
    {0, MAGIC("CDF\5"), "NetCDF" AS_NPY("netCDF4"), NULL},
    {344, MAGIC("n+1\0"), "NIfTI" AS_NPY("nibabel"), NULL},
    {344, MAGIC("ni1\0"), "NIfTI" AS_NPY("nibabel"), NULL},
    {4, MAGIC("n+2\0"), "NIfTI" AS_NPY("nibabel"), NULL},
    {208, MAGIC("MAP "), "MRC" AS_NPY("mrcfile"), NULL},
    {128, MAGIC("DICM"), "DICOM; convert it with dcm2pnm --write-16-bit-pnm", NULL},
    {0, MAGIC("ZISRAWFI"), "Zeiss's CZI; convert it with bfconvert, to OME-TIFF", NULL},
    {0, MAGIC("\xda\xce\xbe\x0a"), "Nikon's ND2; convert it with bfconvert, to OME-TIFF", NULL},
    {0, MAGIC("GRIB"), "GRIB" AS_TIFF, NULL},
    {0, MAGIC("ENVI"), "the header of ENVI" AS_TIFF, NULL},
    {0, MAGIC("\x1f\x8b"), UNPACK("gzip"), "fitstoraw"},
    {0, MAGIC("\x1f\x9d"), "compress; unpack it with gzip -dc", NULL},
    {0, MAGIC("BZh"), UNPACK("bzip2"), NULL}, /* not every CFITSIO unpacks it */
    {0, MAGIC("\xfd\x37zXZ"), UNPACK("xz"), NULL},
    {0, MAGIC("\x28\xb5\x2f\xfd"), UNPACK("zstd"), NULL},
    {0, MAGIC("PK\3\4"),
     "a zip archive; of a .npz, unpack it with unzip and give the .npy files inside", NULL},
    {0, MAGIC("NRRD000"), "raw; it needs no conversion", NULL},
    {0, MAGIC("\x93NUMPY"), "NumPy; it needs no conversion", NULL},
};

/* The header of a trace of SU: its size, and where the kind of the trace and the number of its samples are. */
enum { HEADER = 240, KIND = 28, SAMPLES = 114 };

bool
foreign_may_be_su(const void *first, size_t n)
{
	const unsigned char *head = first;

	for (int swap = 0; n >= HEADER && swap < 2; swap++)
		if (bytes_load(head + SAMPLES, 2, !swap) && bytes_load(head + KIND, 2, !swap) < 256)
			return true;
	return false;
}

/*
 * Says whether a trace of SU ends where the next one begins, by the samples of a trace that its header states. The next
 * header states as many, with the same interval.
 */
static bool
is_su(const unsigned char *first, size_t n)
{
	for (int swap = 0; n > HEADER && swap < 2; swap++) {
		const size_t ns = bytes_load(first + SAMPLES, 2, !swap);
		const size_t end = HEADER + 4 * ns;
		if (ns && (n == end || (n >= end + HEADER &&
					!memcmp(first + SAMPLES, first + end + SAMPLES, 4))))
			return true;
	}
	return false;
}

const char *
foreign_what(const void *first, size_t n)
{
	const unsigned char *head = first;

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (n >= formats[i].at + formats[i].n &&
		    !memcmp(head + formats[i].at, formats[i].magic, formats[i].n))
			return formats[i].programs && strstr(formats[i].programs, weir_prog)
				   ? NULL
				   : formats[i].what;
	/* PNM and PFM: P, one of nine signs, and white space. */
	if (n > 2 && head[0] == 'P' && head[1] && strchr("1234567fF", head[1]) && isspace(head[2]))
		return "PNM; it needs no conversion";
	return is_su(head, n) && !strstr("sutoraw rawtosu", weir_prog)
		   ? "SU; convert it with sutoraw"
		   : NULL;
}
