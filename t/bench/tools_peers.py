"""The peers of tools.sh: tools_peers.py NAME reads files of the directory and writes o.npy."""
import sys

import numpy as np


def load(name):
    return np.load(name)


def difference():
    return load('a.npy') - load('b.npy')


def ratio():
    a, b = load('a.npy'), load('b.npy')
    return (a - b) / np.sqrt(a * a + b * b + 1)


def label():
    from scipy import ndimage
    return ndimage.label(load('c.npy'), np.ones((3, 3)))[0]


def label_skimage():
    from skimage import measure
    return measure.label(load('c.npy'), connectivity=2)


def label_cv2():
    import cv2
    return cv2.connectedComponents(load('c.npy'), connectivity=8)[1]


def table_cv2():
    import cv2
    n, _, stats, centres = cv2.connectedComponentsWithStats(load('c.npy'), connectivity=8)
    return np.c_[np.arange(n), stats, centres]


def distance():
    from scipy import ndimage
    return ndimage.distance_transform_edt(load('c.npy'))


def distance_cv2():
    import cv2
    return cv2.distanceTransform(load('c.npy'), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)


def fits():
    from astropy.io import fits as astropy_fits
    return astropy_fits.getdata('c.fits')


def tiff():
    import tifffile
    return tifffile.imread('c.tif')


np.save('o.npy', globals()[sys.argv[1].replace('-', '_')]())
