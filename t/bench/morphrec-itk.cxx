// KIND CONN N MASK MARKER RESULT: ITK's reconstruction by dilation of raw N x N pictures, for morphrec-peers.sh, which builds
// it where ITK is installed (it has no .pc file). Prints the seconds of the filter alone, of one thread.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <itkImage.h>
#include <itkMultiThreaderBase.h>
#include <itkReconstructionByDilationImageFilter.h>

template <typename T> using Picture = itk::Image<T, 2>;

template <typename T>
typename Picture<T>::Pointer
load(const char *path, size_t n)
{
	auto p = Picture<T>::New();

	p->SetRegions(itk::Size<2>{{n, n}});
	p->Allocate();
	std::ifstream(path, std::ios::binary)
	    .read(reinterpret_cast<char *>(p->GetBufferPointer()),
		  std::streamsize(n * n * sizeof(T)));
	return p;
}

template <typename T>
int
run(bool full, size_t n, char **path)
{
	auto filter = itk::ReconstructionByDilationImageFilter<Picture<T>, Picture<T>>::New();

	filter->SetMaskImage(load<T>(path[0], n));
	filter->SetMarkerImage(load<T>(path[1], n));
	filter->SetFullyConnected(full);
	const auto begin = std::chrono::steady_clock::now();
	filter->Update();
	const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
	std::ofstream(path[2], std::ios::binary)
	    .write(reinterpret_cast<const char *>(filter->GetOutput()->GetBufferPointer()),
		   std::streamsize(n * n * sizeof(T)));
	std::printf("%.6f\n", took.count());
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc != 7)
		return 2;
	itk::MultiThreaderBase::SetGlobalMaximumNumberOfThreads(1);
	const std::string kind = argv[1];
	const bool full = argv[2][0] == '8';
	const size_t n = std::stoul(argv[3]);
	return kind == "uint8"	  ? run<uint8_t>(full, n, argv + 4)
	       : kind == "uint16" ? run<uint16_t>(full, n, argv + 4)
				  : run<float>(full, n, argv + 4);
}
