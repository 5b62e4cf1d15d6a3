#include "pg/stat/row_set.h"

#include "pg/bridge/bridge.h"

extern "C" {
#include "funcapi.h"
#include "utils/tuplestore.h"
}

namespace loom::pg {

void return_rows(FunctionCallInfo fcinfo, const std::vector<TextRow>& rows) {
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    AttInMetadata* metadata = pg_call([&] {
        InitMaterializedSRF(fcinfo, 0);
        return TupleDescGetAttInMetadata(result->setDesc);
    });
    std::vector<const char*> texts;
    for (const TextRow& row : rows) {
        texts.clear();
        for (const auto& cell : row) texts.push_back(cell ? cell->c_str() : nullptr);
        auto** cells = const_cast<char**>(texts.data());
        pg_call([&] {
            CHECK_FOR_INTERRUPTS();
            HeapTuple tuple = BuildTupleFromCStrings(metadata, cells);
            tuplestore_puttuple(result->setResult, tuple);
            heap_freetuple(tuple);
        });
    }
}

}  // namespace loom::pg
