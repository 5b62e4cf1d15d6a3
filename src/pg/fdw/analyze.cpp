// ANALYZE: exact row counts from footers, samples from randomly chosen places of row groups.

#include <algorithm>
#include <random>

#include "pg/bridge/bridge.h"
#include "pg/fdw/fdw.h"

namespace loom::pg {

namespace {

// Places of a table's files that a sample is read from, and rows taken at each.
constexpr size_t kMaxPlaces = 256;
constexpr int64_t kRowsPerPlace = 1024;

struct Place {
    size_t file;
    int64_t row_group;
    format::RowRange range;
};

// Cuts all row groups into blocks and picks evenly many of them at random.
std::vector<Place> choose_places(FileScan& scan, int64_t* total_rows) {
    std::vector<Place> places;
    std::mt19937_64 random(std::random_device{}());
    int64_t seen = 0;
    *total_rows = 0;
    for (size_t file = 0; file < scan.files().size(); ++file) {
        const int64_t groups = scan.row_groups_of(file);
        for (int64_t group = 0; group < groups; ++group) {
            const int64_t rows = scan.rows_of(file, group);
            *total_rows += rows;
            for (int64_t row = 0; row < rows; row += kRowsPerPlace) {
                const Place place{file, group, {row, std::min(rows, row + kRowsPerPlace)}};
                ++seen;
                if (places.size() < kMaxPlaces) {
                    places.push_back(place);
                    continue;
                }
                const auto slot = static_cast<size_t>(random() % static_cast<uint64_t>(seen));
                if (slot < kMaxPlaces) places[slot] = place;
                if (seen > 1'000'000) {  // of a huge row group, a block in a thousand is enough
                    row += 1000 * kRowsPerPlace;
                }
            }
        }
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return std::tie(a.file, a.row_group, a.range.begin) <
               std::tie(b.file, b.row_group, b.range.begin);
    });
    return places;
}

// Reservoir sampling over the rows of all places.
int sample(FileScan& scan, const std::vector<Place>& places, Relation relation, HeapTuple* rows,
           int target) {
    TupleDesc descriptor = RelationGetDescr(relation);
    const int width = descriptor->natts;
    std::vector<Datum> values(width);
    auto nulls = std::make_unique<bool[]>(width);
    std::fill_n(nulls.get(), width, true);
    std::mt19937_64 random(std::random_device{}());
    int64_t seen = 0;
    int taken = 0;
    for (const Place& place : places) {
        scan.restrict_to(place.file, place.row_group, place.range);
        while (const int64_t count = scan.next_batch()) {
            for (int64_t i = 0; i < count; ++i, ++seen) {
                int64_t slot = taken < target ? taken : static_cast<int64_t>(random() % (seen + 1));
                if (slot >= target) continue;
                for (size_t c = 0; c < scan.referenced().size(); ++c) {
                    const int attribute = scan.referenced()[c] - 1;
                    values[attribute] = scan.values(c)[i];
                    nulls[attribute] = scan.nulls(c)[i];
                }
                Datum* value_array = values.data();
                bool* null_array = nulls.get();
                pg_call([&] {
                    HeapTuple tuple = heap_form_tuple(descriptor, value_array, null_array);
                    if (slot < taken) heap_freetuple(rows[slot]);
                    rows[slot] = tuple;
                });
                taken = std::max<int>(taken, static_cast<int>(slot) + 1);
            }
        }
    }
    return taken;
}

int acquire_sample(Relation relation, int level, HeapTuple* rows, int target, double* total,
                   double* dead) {
    return pg_entry([=] {
        TableDef def = read_table_def(relation);
        std::vector<AttrNumber> attributes;
        for (size_t i = 0; i < def.columns.size(); ++i)
            if (def.columns[i].source != ColumnSource::kDropped)
                attributes.push_back(static_cast<AttrNumber>(i + 1));
        MemoryContext context = pg_call([&] {
            return AllocSetContextCreate(CurrentMemoryContext, "pg_loom sample",
                                         ALLOCSET_DEFAULT_SIZES);
        });
        auto* scan = make_in_context<FileScan>(context, std::move(def), std::move(attributes),
                                               std::vector<PruneQual>(), context);
        scan->restart({});
        int64_t total_rows = 0;
        const std::vector<Place> places = choose_places(*scan, &total_rows);
        const int taken = sample(*scan, places, relation, rows, target);
        *total = static_cast<double>(total_rows);
        *dead = 0;
        pg_call([&] {
            MemoryContextDelete(context);
            ereport(level, (errmsg("\"%s\": %lld rows in the files, %d rows in sample",
                                   RelationGetRelationName(relation),
                                   static_cast<long long>(total_rows), taken)));
        });
        return taken;
    });
}

}  // namespace

bool analyze_table(Relation relation, AcquireSampleRowsFunc* function, BlockNumber* pages) {
    return pg_entry([=] {
        // A sample consists of heap tuples, which are narrower than a foreign table may be.
        if (RelationGetDescr(relation)->natts > MaxTupleAttributeNumber) return false;
        const TableDef def = read_table_def(relation);
        uint64_t bytes = 0;
        for (const io::SourceFile& file : io::list_files(def.options.files))
            bytes += io::stat_local_file(file.path).size;
        *pages = static_cast<BlockNumber>(
            std::min<uint64_t>(std::max<uint64_t>(1, bytes / BLCKSZ), MaxBlockNumber));
        *function = acquire_sample;
        return true;
    });
}

}  // namespace loom::pg
