/* pkg-config: gmp mpfr */
// emst against CGAL's Delaunay triangulations, of whose edges Kruskal's algorithm takes the tree: one thread each.
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#define _Noreturn [[noreturn]] // our headers are C
extern "C" {
#include "t/bench/bench.h"
#include "t/bench/emst.h"
}

extern "C" {
extern const char *const weir_prog; // which C++ would keep to this file
const char *const weir_prog = "emst-cgal";
}

#if __has_include(<CGAL/Delaunay_triangulation_3.h>)
#include <CGAL/Delaunay_triangulation_2.h>
#include <CGAL/Delaunay_triangulation_3.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Triangulation_vertex_base_with_info_2.h>
#include <CGAL/Triangulation_vertex_base_with_info_3.h>

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Cells2 = CGAL::Triangulation_data_structure_2<
    CGAL::Triangulation_vertex_base_with_info_2<unsigned, Kernel>>;
using Cells3 = CGAL::Triangulation_data_structure_3<
    CGAL::Triangulation_vertex_base_with_info_3<unsigned, Kernel>,
    CGAL::Delaunay_triangulation_cell_base_3<Kernel>>;
using Delaunay2 = CGAL::Delaunay_triangulation_2<Kernel, Cells2>;
using Delaunay3 = CGAL::Delaunay_triangulation_3<Kernel, Cells3, CGAL::Fast_location>;

namespace
{

struct edge {
	double d2;
	unsigned u, v;
};

double
kruskal(std::vector<edge> &edges, size_t n)
{
	std::vector<unsigned> up(n);
	double total = 0;

	std::iota(up.begin(), up.end(), 0);
	auto root = [&](unsigned i) {
		while (up[i] != i)
			i = up[i] = up[up[i]];
		return i;
	};
	std::sort(edges.begin(), edges.end(),
		  [](const edge &a, const edge &b) { return a.d2 < b.d2; });
	for (const edge &e : edges) {
		const unsigned u = root(e.u), v = root(e.v);
		if (u != v) {
			up[u] = v;
			total += std::sqrt(e.d2);
		}
	}
	return total;
}

template <typename real>
void
cgal2(void *p)
{
	auto *job = static_cast<emst_job *>(p);
	const real *x = static_cast<const real *>(job->data);
	std::vector<std::pair<Kernel::Point_2, unsigned>> points;
	std::vector<edge> edges;

	for (unsigned i = 0; i < job->n; i++)
		points.push_back({Kernel::Point_2(x[2 * i], x[2 * i + 1]), i});
	Delaunay2 t(points.begin(), points.end());
	for (auto e = t.finite_edges_begin(); e != t.finite_edges_end(); ++e) {
		const auto a = e->first->vertex(t.cw(e->second)),
			   b = e->first->vertex(t.ccw(e->second));
		edges.push_back(
		    {CGAL::squared_distance(a->point(), b->point()), a->info(), b->info()});
	}
	job->total = kruskal(edges, job->n);
}

void
cgal3(void *p)
{
	auto *job = static_cast<emst_job *>(p);
	const float *x = static_cast<const float *>(job->data);
	std::vector<std::pair<Kernel::Point_3, unsigned>> points;
	std::vector<edge> edges;

	for (unsigned i = 0; i < job->n; i++)
		points.push_back({Kernel::Point_3(x[3 * i], x[3 * i + 1], x[3 * i + 2]), i});
	Delaunay3 t(points.begin(), points.end());
	for (auto e = t.finite_edges_begin(); e != t.finite_edges_end(); ++e) {
		const auto a = e->first->vertex(e->second), b = e->first->vertex(e->third);
		edges.push_back(
		    {CGAL::squared_distance(a->point(), b->point()), a->info(), b->info()});
	}
	job->total = kruskal(edges, job->n);
}

template <typename real>
void
compare(const char *name, const std::vector<real> &x, size_t k, void (*cgal)(void *))
{
	const size_t n = x.size() / k;
	const img_type type = sizeof(real) == sizeof(float) ? IMG_F32 : IMG_F64;
	emst_job ours = {x.data(), type, n, k, 1, 0, 0}, theirs = ours;
	bench_entry e[] = {{"emst", emst_job_run, &ours, nullptr, 0},
			   {"CGAL, Delaunay", cgal, &theirs, nullptr, 0}};
	char title[128];

	emst_job_run(&ours);
	std::snprintf(title, sizeof title, "%s: %zu points, %zu distinct", name, n, ours.vertices);
	bench_compare(title, e, 2, 3);
	if (std::fabs(ours.total - theirs.total) > 1e-6 * theirs.total)
		std::printf("  the trees differ: %.10g and %.10g\n", ours.total, theirs.total);
}

void
uniform(const char *name, size_t k, size_t n, void (*cgal)(void *))
{
	std::vector<float> x(n * k);

	emst_uniform(x.data(), n, k);
	compare(name, x, k, cgal);
}

void
doubles(const char *name, size_t n, void (*fill)(double *, size_t))
{
	std::vector<double> x(n * 2);

	fill(x.data(), n);
	compare(name, x, 2, cgal2<double>);
}

} // namespace

int
main()
{
	uniform("uniform, 2 dimensions", 2, 300000, cgal2<float>);
	uniform("uniform, 3 dimensions", 3, 100000, cgal3);
	doubles("tracks", 1000000, emst_tracks);
	doubles("repeated points", 1000000, emst_repeated);
	return 0;
}
#else
int
main()
{
	std::puts("left out: libcgal-dev is not installed");
	return 0;
}
#endif
