/* What gpu/fft.cu includes as <dlfcn.h> under t/cudacpu: the one library there is cuFFT, which FFTW stands in for (cufft.cu). */
#ifndef CUDACPU_DLFCN_H
#define CUDACPU_DLFCN_H

enum { RTLD_NOW = 2, RTLD_LOCAL = 0 };

void *cudacpu_dlopen(const char *name);
void *cudacpu_dlsym(void *library, const char *name);
char *cudacpu_dlerror(void);

/* The path by which alone it can be opened from now on; "": any name. */
extern "C" void cudacpu_library_at(const char *path);

static inline void *
dlopen(const char *name, int)
{
	return cudacpu_dlopen(name);
}

static inline void *
dlsym(void *library, const char *name)
{
	return cudacpu_dlsym(library, name);
}

static inline char *
dlerror(void)
{
	return cudacpu_dlerror();
}

#endif
