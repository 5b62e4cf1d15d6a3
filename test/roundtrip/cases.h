#pragma once
// The files of the round-trip test.

#include <string>
#include <vector>

#include "column/data_type.h"
#include "format/parquet/write/options.h"

namespace loom::roundtrip {

/// One data set, written in one or both formats.
struct Case {
    std::string name;
    column::Schema schema;
    int64_t rows = 5'000;
    double nulls = 0.2;
    int64_t variety = 0;
    int64_t batch_rows = 1'013;
    bool dictionary_views = false;  ///< hand the writer dictionary-encoded columns
    parquet::WriterOptions parquet;
};

std::vector<Case> parquet_cases();

}  // namespace loom::roundtrip
