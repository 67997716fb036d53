#include <nanobind/nanobind.h>

namespace neardup::bind {
void register_fingerprint(nanobind::module_&);
void register_id_set(nanobind::module_&);
void register_join(nanobind::module_&);
void register_weighted(nanobind::module_&);
}  // namespace neardup::bind

NB_MODULE(_native, m) {
    neardup::bind::register_fingerprint(m);
    neardup::bind::register_id_set(m);
    neardup::bind::register_join(m);
    neardup::bind::register_weighted(m);
}
