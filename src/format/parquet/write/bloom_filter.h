#pragma once
// Split block Bloom filters (BloomFilter.md of the Parquet format).

#include <string>
#include <vector>

#include "format/parquet/write/schema_plan.h"
#include "format/parquet/write/value_store.h"

namespace loom::parquet::write {

/// Appends header and bits of a filter over the distinct values of `values` to `out`. `probability`
/// is the wanted share of false positives.
void append_bloom_filter(const ValueStore& values, double probability, std::string& out);

}  // namespace loom::parquet::write
