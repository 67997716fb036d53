#include <nanobind/nanobind.h>

#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace neardup::bind {
void register_contamination(nanobind::module_&);
void register_hamming_join(nanobind::module_&);
void register_index_tables(nanobind::module_&);
void register_json(nanobind::module_&);
void register_passages(nanobind::module_&);
void register_set_index(nanobind::module_&);
void register_set_join(nanobind::module_&);
void register_shared_features(nanobind::module_&);
void register_spans(nanobind::module_&);
void register_terms(nanobind::module_&);
void register_text(nanobind::module_&);

namespace {

// Keep freed blocks of up to 32 MB for the next ones, and up to 64 MB of them in each heap. glibc
// would return most of them to the system, which clears every page again for the next batch.
void keep_freed_memory() {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

}  // namespace
}  // namespace neardup::bind

NB_MODULE(_native, m) {
    // A program that ends while it still holds objects is no error of its user.
    nanobind::set_leak_warnings(false);
    neardup::bind::register_contamination(m);
    neardup::bind::register_hamming_join(m);
    neardup::bind::register_index_tables(m);
    neardup::bind::register_json(m);
    neardup::bind::register_passages(m);
    neardup::bind::register_set_index(m);
    neardup::bind::register_set_join(m);
    neardup::bind::register_shared_features(m);
    neardup::bind::register_spans(m);
    neardup::bind::register_terms(m);
    neardup::bind::register_text(m);
    m.def("keep_freed_memory", &neardup::bind::keep_freed_memory);
}
