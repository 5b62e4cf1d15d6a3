#include "pg/node/plan_rows.h"

#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"

extern "C" {
#include "executor/executor.h"
}

namespace loom::pg {

namespace {

// Small tables of tests are to have several batches, too.
constexpr int64_t kShimBatchRows = 50;

}  // namespace

PlanRows::PlanRows(PlanState* plan, std::vector<AttrNumber> attributes,
                   const std::vector<plan::Type>& types, MemoryContext context)
    : plan_(plan), attributes_(std::move(attributes)) {
    pg_call(
        [&] { batch_ = AllocSetContextCreate(context, "pg_loom rows", ALLOCSET_DEFAULT_SIZES); });
    for (const plan::Type type : types) columns_.emplace_back(type, context);
}

int64_t PlanRows::pull() {
    DatumColumn* columns = columns_.data();
    const size_t width = columns_.size();
    const int64_t most = g_shim ? kShimBatchRows : exec::kBatchRows;
    int64_t rows = 0;
    pg_call([&] {
        MemoryContextReset(batch_);
        while (rows < most) {
            CHECK_FOR_INTERRUPTS();
            TupleTableSlot* slot = ExecProcNode(plan_);
            if (TupIsNull(slot)) {
                done_ = true;
                break;
            }
            MemoryContext old = MemoryContextSwitchTo(batch_);
            for (size_t c = 0; c < width; ++c) {
                bool null;
                const Datum value = slot_getattr(slot, attributes_[c], &null);
                columns[c].put_maylongjmp(rows, value, null);
            }
            MemoryContextSwitchTo(old);
            ++rows;
        }
    });
    return rows;
}

int64_t PlanRows::fetch(std::span<exec::Vector> columns) {
    if (done_) return 0;
    const int64_t rows = pull();
    for (size_t c = 0; c < columns_.size(); ++c) columns[c] = columns_[c].vector(rows);
    return rows;
}

}  // namespace loom::pg
