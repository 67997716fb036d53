#include <nanobind/nanobind.h>

namespace neardup::bind {
void register_hamming_join(nanobind::module_&);
void register_index_tables(nanobind::module_&);
void register_json(nanobind::module_&);
void register_set_join(nanobind::module_&);
void register_terms(nanobind::module_&);
void register_text(nanobind::module_&);
}  // namespace neardup::bind

NB_MODULE(_native, m) {
    // A program that ends while it still holds objects is no error of its user.
    nanobind::set_leak_warnings(false);
    neardup::bind::register_hamming_join(m);
    neardup::bind::register_index_tables(m);
    neardup::bind::register_json(m);
    neardup::bind::register_set_join(m);
    neardup::bind::register_terms(m);
    neardup::bind::register_text(m);
}
