#pragma once
// Generates tables into files, on several threads, in constant memory.

#include "output.h"
#include "progress.h"
#include "table.h"

namespace loom::datagen {

struct Written {
    int64_t rows = 0;
    uint64_t bytes = 0;
    int64_t files = 0;
    double seconds = 0;
};

/// Writes a table: DIR/name.ext, DIR/name/part-0000.ext with several files, or
/// DIR/name/key=value/part-0000.ext if it is partitioned. What the files hold depends on neither
/// the number of threads nor the format. Raises kBadOption if DIR/name holds something already.
Written generate(const Table& table, const OutputOptions& options, Progress& progress);

}  // namespace loom::datagen
