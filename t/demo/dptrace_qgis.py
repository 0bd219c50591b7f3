# A processing script for QGIS: Processing Toolbox, Scripts, Add Script to Toolbox. It traces the object between the points of each
# line of a layer. The picture is a GeoTIFF, and dptrace and tifftoraw are on the path.
from subprocess import PIPE, run
from qgis.core import (QgsFeature, QgsFeatureRequest, QgsFields, QgsGeometry,
                       QgsProcessingUtils, QgsWkbTypes)
from qgis.processing import alg

@alg(name="dptrace", label="Trace lines", group="weir", group_label="weir")
@alg.input(type=alg.RASTER_LAYER, name="PICTURE", label="Picture (GeoTIFF)")
@alg.input(type=alg.SOURCE, name="CLICKS", label="Lines: a few points along each object")
@alg.input(type=alg.SINK, name="OUTPUT", label="Traced lines")
def trace(self, parameters, context, feedback, inputs):
    """Traces the object between the points of each line."""
    picture = self.parameterAsRasterLayer(parameters, "PICTURE", context)
    clicks = self.parameterAsSource(parameters, "CLICKS", context)
    sink, output = self.parameterAsSink(parameters, "OUTPUT", context, QgsFields(),
                                        QgsWkbTypes.LineString, picture.crs())
    request = QgsFeatureRequest().setDestinationCrs(picture.crs(), context.transformContext())
    file = QgsProcessingUtils.generateTempFilename("clicks.wkt")
    with open(file, "w") as f:
        for feature in clicks.getFeatures(request):
            f.writelines(g.asWkt() + "\n" for g in feature.geometry().asGeometryCollection())
    raw = run(["tifftoraw", picture.source()], stdout=PIPE, check=True).stdout
    done = run(["dptrace", "--points=world", "--to=wkt", "-f", file], input=raw, stdout=PIPE,
               stderr=PIPE)
    feedback.pushInfo(done.stderr.decode())
    done.check_returncode()
    for line in done.stdout.decode().splitlines():
        feature = QgsFeature()
        feature.setGeometry(QgsGeometry.fromWkt(line))
        sink.addFeature(feature)
    return {"OUTPUT": output}
