# shellcheck shell=bash
# Sourced by the benches of the GPU: where there is none, they say why and end.
state=$(morphrec --version | sed -n 's/^GPU: //p')
case $state in
'built without'* | *', no GPU:'*)
	echo "no GPU: ${state#*, no GPU: }"
	exit 0
	;;
esac
# Seconds of kernels shall not include that they are loaded.
export CUDA_MODULE_LOADING=EAGER
