#pragma once
// The files of the round-trip test.

#include <string>
#include <vector>

#include "column/data_type.h"
#include "format/arrow/writer.h"
#include "format/parquet/write/options.h"

namespace loom::roundtrip {

enum class Format { kParquet, kArrow };

/// One data set in one file.
struct Case {
    std::string name;
    Format format = Format::kParquet;
    column::Schema schema;
    int64_t rows = 5'000;
    double nulls = 0.2;
    int64_t variety = 0;
    int64_t batch_rows = 1'013;
    bool dictionary_views = false;  ///< hand the writer dictionary-encoded columns
    parquet::WriterOptions parquet;
    arrow::WriterOptions arrow;
};

std::vector<Case> parquet_cases();
std::vector<Case> arrow_cases();

}  // namespace loom::roundtrip
