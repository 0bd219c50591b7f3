# weir. `make help` lists the targets. Everything built goes to build/; a second make does nothing.

# A commit that is no release has what `git describe` says after the version.
VERSION = 1.0.0
COMMIT := $(if $(wildcard .git),$(shell git describe --tags --match 'v[0-9]*' 2>/dev/null || \
	git rev-parse --short HEAD 2>/dev/null | sed 's/^/v$(VERSION)-g/'))
FULL := $(or $(COMMIT:v%=%),$(VERSION))
PREFIX ?= /usr/local
DESTDIR ?=
PROGRAM_PREFIX ?=
NATIVE ?=
B ?= build

CC ?= cc
ifeq ($(origin CC),default)
CC = gcc
endif
ifeq ($(origin CXX),default)
CXX = $(if $(findstring clang,$(CC)),clang++,g++)
endif
STRIP ?= $(if $(filter %-gcc,$(CC)),$(CC:gcc=strip),strip)
OPT ?= -O3 -g1
MARCH ?=
NVCC ?= $(shell command -v nvcc 2>/dev/null)

# ---- what is built ------------------------------------------------------------------------------------------------
# A directory with a main.c is a program; its rooms are directories below it. A room with a main.c of its own is a guest, a
# small program that may call its host. A file of common/tools/ or common/convert/ with a main() is a small program of its own;
# the others there and in common/picture/ serve several of them. A file that needs a library says so in its first line,
# `/* link: -ltiff */`; where the library of a small program is absent, its files are left out.
PROGRAMS := $(patsubst %/main.c,%,$(wildcard */main.c))
GUESTS := $(patsubst %/main.c,%,$(wildcard */*/main.c))
SMALL := $(wildcard common/picture/*.c common/convert/*.c common/tools/*.c)
linked = $(sort $(shell sed -sn '1s,.*link: \(.*\) \*/.*,\1,p' $(1)))
LINKED := $(call linked,$(SMALL) $(wildcard $(PROGRAMS:%=%/*.c)))
ABSENT := $(shell for l in $(LINKED); do echo 'int x;' | $(CC) -shared -fPIC -x c - -o /dev/null $$l 2>/dev/null || echo $$l; done)
TOOLLIBS := $(filter-out $(ABSENT),$(LINKED))
TOOLLEFT := $(foreach l,$(ABSENT),$(shell grep -l '^/\* link: $(l) ' $(SMALL)))
ifneq ($(ABSENT),)
$(info left out, since $(ABSENT) is not installed (make deps): $(TOOLLEFT))
endif
# WCSLIB is chosen at link time: sky.c where it is there, else the same symbols that say so.
TOOLFILES := $(filter-out $(TOOLLEFT) $(if $(filter -lwcs,$(ABSENT)),,common/picture/sky_none.c),$(SMALL))
TOOLS := $(shell grep -l '^main.int' $(TOOLFILES))
COMPILED := $(PROGRAMS:%=$(B)/%) $(addprefix $(B)/,$(notdir $(GUESTS))) $(addprefix $(B)/,$(notdir $(TOOLS:.c=)))
BINARIES := $(COMPILED) $(B)/weir

# A file whose first line is `/* variants: f32_avx2 f64_avx2 */` is compiled once for each of them: common/base/simd.h.
VARIED := $(shell grep -l '^/\* variants: ' */*.c */*/*.c)
$(foreach f,$(VARIED),$(eval VARIANTS_$(f) := $(shell sed -n '1s,.*variants: \(.*\) \*/,\1,p' $(f))))
objects = $(foreach f,$(1),$(if $(VARIANTS_$(f)),$(VARIANTS_$(f):%=$(B)/obj/$(f:.c=).%.o),$(B)/obj/$(f:.c=.o)))

COMMON := $(patsubst %.c,$(B)/obj/%.o,$(wildcard common/base/*.c common/stream/*.c))
SHARED := $(patsubst %.c,$(B)/obj/%.o,$(filter-out $(TOOLS),$(TOOLFILES)))
sources = $(filter-out $(1)/main.c $(if $(filter $(1),$(GUESTS)),,$(addsuffix /%,$(GUESTS))),$(wildcard $(1)/*.c $(1)/*/*.c))
core = $(call objects,$(call sources,$(1)))
tool = $(filter %/$(1).o,$(TOOLS:%.c=$(B)/obj/%.o))
CORES := $(foreach p,$(patsubst %/,%,$(dir $(wildcard */direct.c))) $(GUESTS),$(call core,$(p)))

# The GPU is chosen at link time: the CUDA twins where nvcc was found, else the same symbols that say so.
ifneq ($(and $(NVCC),$(wildcard gpu/gpu.cu)),)
TWINS := $(patsubst %.cu,$(B)/obj/%.cu.o,$(wildcard gpu/*.cu gpu/*/*.cu))
CUDA_HOME ?= $(patsubst %/bin/,%,$(dir $(realpath $(NVCC))))
GPULIBS := -L$(CUDA_HOME)/lib64 -lcudart_static -ldl -lrt
CHECKGPU := $(B)/t/check-gpu
else
TWINS := $(B)/obj/gpu/none.o
endif
# An archive: a program takes its own twin from it, and none if it has none.
GPU := $(B)/libgpu.a

# ---- flags --------------------------------------------------------------------------------------------------------
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wvla -Wno-missing-field-initializers
SAN ?=
ALL_CPPFLAGS = -I. -D_GNU_SOURCE -DWEIR_VERSION='"$(FULL)"' $(CPPFLAGS)
# Our names are hidden from shared libraries, which have their own: CFITSIO has a file_create() too.
ALL_CFLAGS = -std=c17 $(OPT) $(if $(MARCH),-march=$(MARCH)) -fopenmp -fno-math-errno -fno-trapping-math -fvisibility=hidden \
	$(WARN) $(SAN) $(CFLAGS) $(FLAGS_$(firstword $(subst /, ,$*)))
LIBS = -lfftw3f -lfftw3 -lnetpbm -lm -lpthread
ALL_LDFLAGS = $(SAN) $(LDFLAGS)
# libgomp is linked statically where it can be: see common/base/par.c. Clang's library reads its environment late enough.
CLANG := $(findstring clang,$(shell $(CC) --version))
STATIC := $(if $(CLANG),,$(findstring /,$(shell $(CC) -print-file-name=libgomp.a)))
LIBS += $(if $(STATIC),-l:libgomp.a -ldl,-fopenmp)

# Flags of one program alone. FMA contraction: see 'numerical error' on the page of each. Without its parameter gcc 14 leaves some
# sums of 256 bits uncontracted, so that equal sums in two loops differ.
FUSED = -ffp-contract=fast $(if $(CLANG),,--param=avoid-fma-max-bits=0)
FLAGS_wconv = $(FUSED)
FLAGS_usfft = $(FUSED)
FLAGS_radon = $(FUSED)
FLAGS_emst = -ffp-contract=off
FLAGS_dptrace = -ffp-contract=off
NVFLAGS_dptrace = -fmad=false
NVFLAGS_emst = -fmad=false

all: $(BINARIES)

# A line a file is shown; V=1 shows the commands, and -s nothing.
V ?=
say = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '%-4s %s\n' '$(1)' '$(patsubst $(CURDIR)/%,%,$@)';)

# A stamp with compiler and flags: objects are made anew when either changes. A new one looks first for what all of it needs.
NEEDED = omp.h fftw3.h netpbm/pam.h jansson.h
STAMP = $(CC) $(filter-out -DWEIR_VERSION=%,$(ALL_CPPFLAGS)) $(subst ','\'',$(ALL_CFLAGS)) $(ALL_LDFLAGS) $(LIBS) $(NVCC)
$(B)/flags: force
	@mkdir -p $(@D)
	@echo '$(STAMP)' | cmp -s - $@ || { for h in $(NEEDED); do \
	 echo "#include <$$h>" | $(CC) $(CPPFLAGS) -fopenmp -E - >/dev/null 2>&1 || \
	 { echo "$(CC) finds no $$h: run make deps" >&2; exit 1; }; done; echo '$(STAMP)' >$@; }

# One object holds the version, and is made anew when that changes.
$(B)/version: force
	@mkdir -p $(@D)
	@echo '$(FULL)' | cmp -s - $@ || echo '$(FULL)' >$@
$(B)/obj/common/base/die.o: $(B)/version

# The objects do not tell in which directory they were made: two builds have the same bytes.
define compile
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) $(call varied,$(patsubst .%,%,$(suffix $*))) $(ALL_CFLAGS) '-ffile-prefix-map=$(CURDIR)=.' \
	 -MMD -MP -c -o $@ $<
endef
varied = $(if $(1),-DVARIANT=$(1) $(addprefix -DFOR_,$(subst _, ,$(1))))
$(B)/obj/%.o: %.c $(B)/flags
	$(compile)
$(foreach f,$(VARIED),$(eval $(call objects,$(f)): $(B)/obj/%.o: $(f) $(B)/flags; $$(compile)))

# GPU architectures: the machine's own where there is a GPU, else Hopper. Packages ask for all: ARCHS='75 80 86 89 90 100 120'.
# Others that are newer run by PTX.
ARCHS ?= $(if $(wildcard /dev/nvidia0),native,90)
gencode = $(if $(filter native,$(1)),-arch=native,-gencode arch=compute_$(1),code=sm_$(1))
$(B)/obj/%.cu.o: %.cu $(B)/flags
	@mkdir -p $(@D)
	$(call say,NVCC)$(NVCC) -O3 -std=c++17 -I. -Werror all-warnings -Xcompiler -Wall,-fno-exceptions,-fno-threadsafe-statics \
	 $(foreach a,$(ARCHS),$(call gencode,$(a))) $(if $(filter native,$(ARCHS)),,-gencode arch=compute_90,code=compute_90) \
	 $(NVFLAGS_$(word 2,$(subst /, ,$*))) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# Members of an archive may share their name (gpu/*/job.cu), so they are appended, never replaced.
$(B)/libcommon.a: $(COMMON)
$(B)/libtools.a: $(SHARED)
$(GPU): $(TWINS)
$(B)/libcommon.a $(B)/libtools.a $(B)/libcudacpu.a $(GPU):
	@rm -f $@
	$(call say,AR)$(AR) qcs $@ $^

.SECONDEXPANSION:
$(PROGRAMS:%=$(B)/%): $(B)/%: $(B)/obj/%/main.o $$(call core,$$*) $$(if $$(filter radon,$$*),$$(call core,usfft)) \
		$(GPU) $(B)/libcommon.a
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(GPULIBS) $(call linked,$(call sources,$*)) $(LIBS)

$(foreach g,$(GUESTS),$(eval $(B)/$(notdir $(g)): $(B)/obj/$(g)/main.o $(call core,$(g)) $(call core,$(firstword $(subst /, ,$(g))))))
$(addprefix $(B)/,$(notdir $(GUESTS))): $(GPU) $(B)/libcommon.a
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $(filter-out %.a,$^) $(GPU) $(B)/libcommon.a $(GPULIBS) $(LIBS)

$(addprefix $(B)/,$(notdir $(TOOLS:.c=))): $(B)/%: $$(call tool,$$*) $(B)/libtools.a $(B)/libcommon.a
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $^ -Wl,--as-needed $(TOOLLIBS) $(LIBS)

# The script that lists them all, and has the jobs.
JOBS := $(filter-out common/jobs/common,$(wildcard common/jobs/*))
$(B)/weir: common/tools/weir common/jobs/common $(JOBS) Makefile $(B)/version $(COMPILED)
	$(call say,SED)sed 's/@PROGRAMS@/$(notdir $(COMPILED))/; s/@VERSION@/$(FULL)/; s/@JOBS@/$(notdir $(JOBS))/' $< | \
	 sed $(JOBS:%=-e '/^# --- jobs/r %') -e '/^# --- jobs/r common/jobs/common' >$@ && chmod 755 $@

# ---- tests, benches, demo -----------------------------------------------------------------------------------------
CHECK := $(patsubst %.c,$(B)/obj/%.o,$(wildcard t/check*.c))
CUDACPU := $(patsubst %.cu,$(B)/obj/cudacpu/%.o,$(filter-out $(if $(WATCH),,t/cudacpu/races.cu),$(wildcard gpu/*.cu gpu/*/*.cu t/cudacpu/*.cu)))
# The checks of numbers know no CUDA; those of the kernels are a binary of their own, on t/cudacpu.
CHECKCPU := $(filter-out $(B)/obj/t/check_gpu% $(B)/obj/t/check_cudacpu.o,$(CHECK))
$(B)/t/check: $(CHECKCPU) $(CORES) $(B)/obj/gpu/none.o $(B)/libtools.a $(B)/libcommon.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $^ -Wl,--as-needed $(TOOLLIBS) $(LIBS)

$(B)/t/check-cudacpu: $(CHECK) $(CORES) $(CUDACPU) $(B)/libtools.a $(B)/libcommon.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lstdc++ -Wl,--as-needed $(TOOLLIBS) $(LIBS)

# The kernels as C++ for the CPU: t/cudacpu. ThreadSanitizer knows nothing of fibers; WATCH=races puts races.cu in its
# place. A GPU faults where an access is not aligned as its type is, and so do the kernels here; races.cu finds that itself, and
# says where.
ALIGNED = $(if $(WATCH)$(findstring undefined,$(SAN)),,-fsanitize=alignment -fsanitize-undefined-trap-on-error)
WATCHED = $(if $(WATCH),-fsanitize=thread -Wno-tsan --param=tsan-instrument-func-entry-exit=0)
$(B)/obj/cudacpu/%.o: %.cu $(B)/flags
	@mkdir -p $(@D)
	$(call say,CXX)$(CXX) -x c++ -std=c++17 -It/cudacpu $(ALL_CPPFLAGS) $(OPT) -fopenmp -ffp-contract=off -Wall -Wextra -Wno-unknown-pragmas \
	 $(filter-out -fsanitize=thread,$(SAN)) $(if $(filter gpu/% t/cudacpu/selftest% t/cudacpu/wrong%,$*),$(ALIGNED) $(WATCHED)) -MMD -MP -c -o $@ $<

# The programs on these kernels instead of a GPU: what a stream of items does with -g.
ONCPU := $(PROGRAMS:%=$(B)/t/cudacpu/%)
$(B)/libcudacpu.a: $(filter-out $(B)/obj/cudacpu/t/cudacpu/selftest% $(B)/obj/cudacpu/t/cudacpu/wrong%,$(CUDACPU))
$(ONCPU): $(B)/t/cudacpu/%: $(B)/obj/%/main.o $$(call core,$$*) $$(if $$(filter radon,$$*),$$(call core,usfft)) \
		$(B)/libcudacpu.a $(B)/libcommon.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lstdc++ $(call linked,$(call sources,$*)) $(LIBS)

# The checks of the kernels once more, on the GPU: built with nvcc by `make check`, all skipped where there is no GPU.
$(B)/t/check-gpu: $(CHECK) $(CORES) $(patsubst %.cu,$(B)/obj/%.cu.o,$(wildcard t/cudacpu/selftest*.cu)) $(GPU) $(B)/libtools.a $(B)/libcommon.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(GPULIBS) -lstdc++ -Wl,--as-needed $(TOOLLIBS) $(LIBS)

# t/NAME.c that is no part of check is a helper program of the tests.
HELPERS := $(patsubst t/%.c,$(B)/t/%,$(filter-out $(wildcard t/check*.c),$(wildcard t/*.c)))
$(HELPERS): $(B)/t/%: $(B)/obj/t/%.o $(B)/libcommon.a
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# Loaded before the C library by t/fault.
$(B)/t/nomem.so: t/preload/nomem.c t/preload/nomem.h $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) -std=c17 -O2 $(WARN) -fPIC -shared -o $@ $<

# A bench names the library of a peer in its first line, `/* pkg-config: lept */`, and is left out where that is absent.
pkg = $(shell sed -n '1s,.*pkg-config: \(.*\) \*/.*,\1,p' $(1))
peerflags = $(if $(call pkg,$(1)),$(shell pkg-config --cflags $(call pkg,$(1)) | sed 's/-I/-isystem /g'))
benches = $(foreach f,$(wildcard t/bench/*.$(1)),$(if $(call pkg,$(f)),$(if $(shell pkg-config --exists $(call pkg,$(f)) \
	2>/dev/null && echo yes),$(f)),$(f)))
BENCHES := $(call benches,c)
BENCHXX := $(call benches,cc)
$(BENCHES:t/%.c=$(B)/t/%): $(B)/t/bench/%: t/bench/%.c $(CORES) $(GPU) $(B)/libcommon.a
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(call peerflags,$<) \
	 -MMD -MP -MF $@.d -MT $@ $(ALL_LDFLAGS) -o $@ $(filter-out %.h,$^) $(GPULIBS) -Wl,--as-needed $(TOOLLIBS) $(LIBS) $(if $(call pkg,$<),$(shell pkg-config --libs $(call pkg,$<)))

# Peers that are C++ templates.
$(BENCHXX:t/%.cc=$(B)/t/%): $(B)/t/bench/%: t/bench/%.cc $(CORES) $(GPU) $(B)/libcommon.a
	@mkdir -p $(@D)
	$(call say,CXX)$(CXX) -std=c++17 $(ALL_CPPFLAGS) $(OPT) -DNDEBUG -Wall $(call peerflags,$<) \
	 -MMD -MP -MF $@.d -MT $@ $(ALL_LDFLAGS) -o $@ $(filter-out %.h,$^) $(GPULIBS) -Wl,--as-needed $(TOOLLIBS) $(LIBS) \
	 $(if $(call pkg,$<),$(shell pkg-config --libs $(call pkg,$<)))

check: all $(B)/t/check $(B)/t/check-cudacpu $(ONCPU) $(CHECKGPU) $(HELPERS) $(B)/t/nomem.so
	B=$(B) t/run

bench: all $(HELPERS) $(BENCHES:t/%.c=$(B)/t/%) $(BENCHXX:t/%.cc=$(B)/t/%)
	B=$(B) t/bench/run $(ONLY)

# What a bare machine with an NVIDIA driver needs for the checks and figures of the GPU, in one directory: t/kit/run.
KIT := $(PROGRAMS:%=$(B)/%) $(B)/rawinfo $(B)/t/check-gpu $(B)/t/gen $(B)/t/gencmp $(B)/t/interleave $(B)/t/bench/gpu-rate
gpu-kit: $(if $(CHECKGPU),$(KIT))
	$(if $(CHECKGPU),t/kit/make $(B) $(KIT),@echo 'gpu-kit needs CUDA: NVCC=/usr/local/cuda/bin/nvcc, or where it is' >&2; exit 1)

demo: all $(HELPERS)
	B=$(B) t/demo/run

# Everything above once more under AddressSanitizer and UBSan, then the numbers under ThreadSanitizer.
SANITIZED = B=build/san OPT='-O1 -g' SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined' NVCC=
san:
	ASAN_OPTIONS=allocator_may_return_null=1 LSAN_OPTIONS=suppressions=$(CURDIR)/t/lsan.supp:print_suppressions=0 \
	 $(MAKE) $(SANITIZED) check
	t/tsan $(MAKE)

# Races of the kernels: every access to memory is seen by t/cudacpu/races.cu. Minutes on one core.
races:
	$(MAKE) B=build/races OPT='-O2 -g' NVCC= WATCH=races build/races/t/check-cudacpu
	OMP_NUM_THREADS=1 build/races/t/check-cudacpu cudacpu gpu

# The small tests on CPUs that this machine has not, by qemu, and the checks on lower levels of instructions.
cpus: all $(B)/t/gen $(B)/t/gencmp $(B)/t/check
	B=$(B) t/cpus

FUZZ := $(patsubst t/fuzz/%.c,build/fuzz/%,$(wildcard t/fuzz/*.c))
fuzz: $(FUZZ)
	t/fuzz/run

# Whole programs under the sanitizers, on damaged items and random options.
fuzz-programs:
	$(MAKE) $(SANITIZED) all build/san/t/gen build/san/t/gencmp build/san/t/mutate build/san/t/skeleton
	t/fuzz/programs

build/fuzz/%: t/fuzz/%.c $(wildcard common/*/*.[ch])
	@mkdir -p $(@D)
	$(call say,CC)clang -std=c17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined $(ALL_CPPFLAGS) -o $@ $< \
	 $(filter-out $(TOOLS),$(wildcard common/base/*.c common/stream/*.c) $(TOOLFILES)) -fopenmp $(TOOLLIBS) $(LIBS)

# ---- upkeep -------------------------------------------------------------------------------------------------------
SOURCES = $(shell git ls-files '*.c' '*.cc' '*.h' '*.cu' 2>/dev/null)
lint:
	t/lint

format:
	clang-format -i $(SOURCES)

# What build, tests and demo need; then the linters and the peers that bench measures against.
deps:
	t/deps

deps-dev:
	t/deps dev

install: all
	STRIP='$(STRIP)' NATIVE='$(NATIVE)' t/install $(B) '$(DESTDIR)$(PREFIX)' '$(PROGRAM_PREFIX)' $(BINARIES)

uninstall:
	t/install -u '$(DESTDIR)$(PREFIX)' '$(PROGRAM_PREFIX)' $(BINARIES)

# The sources of the last commit as one file, and a Debian package made of it, without CUDA.
dist:
	t/dist $(B) $(VERSION)

deb: dist
	t/deb $(B) $(VERSION)

# Recipes for conda, Spack and Homebrew that build the archive of dist: URL= is where users find it.
recipes: dist
	t/recipes $(B) $(VERSION) '$(URL)' '$(HOMEPAGE)'

# The site: $(B)/html/index.html.
html:
	t/html $(B)/html

clean:
	rm -rf build

help:
	@sed -n 's/^#? //p' Makefile

#? all             the programs, in build/; build/NAME makes one
#? check           all tests; under five minutes on two cores
#? demo            whole jobs, with pictures in build/demo
#? bench           ours beside the peers that are installed, ONLY=NAME
#? lint            format, warnings, calls, sizes, scripts, pages (make deps-dev)
#? format          clang-format over all sources
#? san             all tests under AddressSanitizer and UBSan, the numbers under ThreadSanitizer
#? races           the kernels of gpu/ on the CPU, every access to memory watched
#? cpus            the small tests on older CPUs and on aarch64, by qemu, and the numbers on lower levels of instructions
#? fuzz            the parsers, FUZZ_SECONDS each; fuzz-programs: whole programs on mutated items and options
#? gpu-kit         what a machine with a driver needs to test and measure the GPU, in build/gpu-kit
#? deps            installs what build, tests and demo need; deps-dev: the linters and the peers too
#? install         to DESTDIR and PREFIX (/usr/local), with PROGRAM_PREFIX before each name; uninstall. STRIP=: keeps the
#?                 symbols; NATIVE=BUILD, a build for this machine, writes the completions of a cross build
#? dist            the sources of the last commit as one file; deb: a Debian package of them
#? recipes         for conda, Spack and Homebrew, of that file, which lies at URL=; t/packaging/Dockerfile makes an image
#? html            the site: pages, gallery, recipes, cheat sheet, in build/html
#? clean           removes build/
#?
#? NVCC= leaves CUDA out, ARCHS='80 90' are its architectures, MARCH=native, CC=clang, B=DIRECTORY, V=1 shows the commands

force:
.PHONY: all check cpus san races bench gpu-kit demo fuzz fuzz-programs lint format deps deps-dev install uninstall dist deb recipes html clean help force
.DELETE_ON_ERROR:

-include $(shell find $(B)/obj $(B)/t -name '*.d' 2>/dev/null)
