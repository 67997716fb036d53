#include <nanobind/nanobind.h>

namespace neardup::bind {
void register_features(nanobind::module_&);
void register_fingerprint(nanobind::module_&);
void register_id_set(nanobind::module_&);
void register_join(nanobind::module_&);
void register_json(nanobind::module_&);
void register_living(nanobind::module_&);
void register_pages(nanobind::module_&);
void register_similar(nanobind::module_&);
void register_weighted(nanobind::module_&);
}  // namespace neardup::bind

NB_MODULE(_native, m) {
    // What a program still holds when it ends is not for its user to read about.
    nanobind::set_leak_warnings(false);
    neardup::bind::register_features(m);
    neardup::bind::register_fingerprint(m);
    neardup::bind::register_id_set(m);
    neardup::bind::register_join(m);
    neardup::bind::register_json(m);
    neardup::bind::register_living(m);
    neardup::bind::register_pages(m);
    neardup::bind::register_similar(m);
    neardup::bind::register_weighted(m);
}
