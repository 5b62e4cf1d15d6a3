#include "exec/window/functions.h"

#include <algorithm>
#include <cstring>

#include "exec/fault.h"
#include "exec/query.h"

namespace loom::exec {

using plan::TypeId;

namespace {

// pg_proc OIDs.
enum Function : uint32_t {
    kRowNumber = 3100,
    kRank = 3101,
    kDenseRank = 3102,
    kPercentRank = 3103,
    kCumeDist = 3104,
    kNtile = 3105,
    kLag = 3106,
    kLagOffset = 3107,
    kLagDefault = 3108,
    kLead = 3109,
    kLeadOffset = 3110,
    kLeadDefault = 3111,
    kFirstValue = 3112,
    kLastValue = 3113,
    kNthValue = 3114,
    // Aggregates over the rows of a partition in their order: the first row has the result, the
    // others NULL.
    kPercentileDisc = 3972,
    kPercentileCont = 3974,
    kMode = 3984,
    kStringAgg = 3538,
    kArrayAgg = 2335
};

// Computes a number for each row of each partition.
template <typename T, typename Body>
void number_rows(const WindowInput& input, StoredColumn& out, Body&& body) {
    base::Buffer values(input.budget);
    values.resize(static_cast<uint64_t>(input.length()) * sizeof(T));
    T* results = values.as<T>();
    for (int64_t row = 0; row < input.length();) {
        input.poll();
        const RowSpan partition = input.partitions[row];
        body(partition, results);
        row = partition.end;
    }
    append_values(out, results, nullptr, input.length());
}

void row_number(const WindowInput& input, StoredColumn& out) {
    number_rows<int64_t>(input, out, [](RowSpan partition, int64_t* results) {
        for (int64_t row = partition.begin; row < partition.end; ++row)
            results[row] = row - partition.begin + 1;
    });
}

void rank(const WindowInput& input, StoredColumn& out) {
    number_rows<int64_t>(input, out, [&](RowSpan partition, int64_t* results) {
        for (int64_t row = partition.begin; row < partition.end; ++row)
            results[row] = input.peers[row].begin - partition.begin + 1;
    });
}

void dense_rank(const WindowInput& input, StoredColumn& out) {
    number_rows<int64_t>(input, out, [&](RowSpan partition, int64_t* results) {
        int64_t groups = 0;
        for (int64_t row = partition.begin; row < partition.end; ++row) {
            if (input.peers[row].begin == row) ++groups;
            results[row] = groups;
        }
    });
}

void percent_rank(const WindowInput& input, StoredColumn& out) {
    number_rows<double>(input, out, [&](RowSpan partition, double* results) {
        const auto others = static_cast<double>(partition.length() - 1);
        for (int64_t row = partition.begin; row < partition.end; ++row) {
            const auto below = static_cast<double>(input.peers[row].begin - partition.begin);
            results[row] = partition.length() > 1 ? below / others : 0;
        }
    });
}

void cume_dist(const WindowInput& input, StoredColumn& out) {
    number_rows<double>(input, out, [&](RowSpan partition, double* results) {
        const auto total = static_cast<double>(partition.length());
        for (int64_t row = partition.begin; row < partition.end; ++row)
            results[row] = static_cast<double>(input.peers[row].end - partition.begin) / total;
    });
}

// The number of buckets is asked for at a partition's first row, and again as long as it is NULL.
void ntile(const WindowInput& input, StoredColumn& out) {
    const Vector buckets = input.arg(0);
    base::Buffer present(input.budget);
    base::Buffer values(input.budget);
    present.resize(static_cast<uint64_t>(input.length()));
    values.resize(static_cast<uint64_t>(input.length()) * sizeof(int32_t));
    int32_t tile = 0;
    int64_t rows_in_tile = 0;
    int64_t boundary = 0;
    int64_t remainder = 0;
    for (int64_t row = 0; row < input.length(); ++row) {
        const RowSpan partition = input.partitions[row];
        if (partition.begin == row) {
            input.poll();
            tile = 0;
        }
        present.data()[row] = tile > 0 || !buckets.is_null(row);
        values.as<int32_t>()[row] = 0;
        if (!present.data()[row]) continue;
        if (tile == 0) {
            const int64_t count = buckets.as<int32_t>()[row];
            if (count <= 0) throw SqlFault("22014", "argument of ntile must be greater than zero");
            tile = 1;
            rows_in_tile = 0;
            boundary = partition.length() / count;
            remainder = 0;
            if (boundary <= 0) {
                boundary = 1;
            } else {
                remainder = partition.length() % count;
                if (remainder != 0) ++boundary;
            }
        }
        if (boundary < ++rows_in_tile) {
            if (remainder != 0 && tile == remainder) {
                remainder = 0;
                --boundary;
            }
            ++tile;
            rows_in_tile = 1;
        }
        values.as<int32_t>()[row] = tile;
    }
    append_values(out, values.data(), present.data(), input.length());
}

// Takes the argument's value at the row that `place` returns for each row: -1 for NULL, -2 for the
// value of the third argument at the row itself.
template <typename Place>
void take(const WindowInput& input, StoredColumn& out, Place&& place) {
    const StoredColumn& values = input.rows.column(static_cast<size_t>(input.args[0]));
    const StoredColumn* defaults =
        input.args.size() > 2 ? &input.rows.column(static_cast<size_t>(input.args[2])) : nullptr;
    base::Buffer gathered(input.budget);
    base::Buffer validity(input.budget);
    int32_t places[kBatchRows];
    for (int64_t begin = 0; begin < input.length(); begin += kBatchRows) {
        input.poll();
        const int64_t count = std::min(kBatchRows, input.length() - begin);
        bool any_default = false;
        for (int64_t i = 0; i < count; ++i) {
            places[i] = place(begin + i);
            any_default |= places[i] == -2;
        }
        if (!any_default) {
            out.append(values.gather(places, count, gathered, validity));
            continue;
        }
        // Runs of one source each.
        for (int64_t i = 0; i < count;) {
            const bool is_default = places[i] == -2;
            int64_t end = i;
            for (; end < count && (places[end] == -2) == is_default; ++end)
                if (is_default) places[end] = static_cast<int32_t>(begin + end);
            out.append(
                (is_default ? defaults : &values)->gather(places + i, end - i, gathered, validity));
            i = end;
        }
    }
}

void shifted(const WindowInput& input, StoredColumn& out, int direction) {
    const bool has_offset = input.args.size() > 1;
    const Vector offsets = has_offset ? input.arg(1) : Vector();
    const int32_t outside = input.args.size() > 2 ? -2 : -1;
    take(input, out, [&](int64_t row) -> int32_t {
        if (has_offset && offsets.is_null(row)) return -1;
        const int64_t offset = has_offset ? offsets.as<int32_t>()[row] : 1;
        const int64_t wanted = row + direction * offset;
        const RowSpan partition = input.partitions[row];
        return wanted >= partition.begin && wanted < partition.end ? static_cast<int32_t>(wanted)
                                                                   : outside;
    });
}

void nth_value(const WindowInput& input, StoredColumn& out) {
    const Vector numbers = input.arg(1);
    take(input, out, [&](int64_t row) -> int32_t {
        if (numbers.is_null(row)) return -1;
        const int64_t number = numbers.as<int32_t>()[row];
        if (number <= 0) throw SqlFault("22016", "argument of nth_value must be greater than zero");
        const RowSpan frame = input.frames[row];
        return number <= frame.length() ? static_cast<int32_t>(frame.begin + number - 1) : -1;
    });
}

}  // namespace

void append_values(StoredColumn& out, const void* values, const uint8_t* present, int64_t count) {
    base::Buffer validity;
    Vector vector;
    vector.type = out.type();
    vector.length = count;
    vector.values = values;
    if (present != nullptr) {
        validity.resize(static_cast<uint64_t>(base::bitmap_bytes(count)));
        for (int64_t i = 0; i < count; ++i) base::put_bit(validity.data(), i, present[i] != 0);
        vector.validity = validity.data();
    }
    out.append(vector);
}

std::optional<plan::Type> window_type(uint32_t function, std::span<const plan::Type> args,
                                      const plan::Layout* layout) {
    switch (function) {
        case kRowNumber:
        case kRank:
        case kDenseRank:
            return args.empty() ? std::optional(plan::make_type(TypeId::kInt8)) : std::nullopt;
        case kPercentRank:
        case kCumeDist:
            return args.empty() ? std::optional(plan::make_type(TypeId::kFloat8)) : std::nullopt;
        case kNtile:
            if (args.size() != 1 || args[0].id != TypeId::kInt4) return std::nullopt;
            return args[0];
        case kLagOffset:
        case kLeadOffset:
        case kNthValue:
            if (args.size() != 2 || args[1].id != TypeId::kInt4) return std::nullopt;
            return args[0];
        case kLagDefault:
        case kLeadDefault:
            // A default of another scale would be shown with it.
            if (args.size() != 3 || args[1].id != TypeId::kInt4 || args[2] != args[0])
                return std::nullopt;
            return args[0];
        case kLag:
        case kLead:
        case kFirstValue:
        case kLastValue:
        case kMode:
            return args.size() == 1 ? std::optional(args[0]) : std::nullopt;
        case kPercentileDisc:
        case kPercentileCont:
            if (args.size() != 2 || args[1].id != TypeId::kFloat8 ||
                (function == kPercentileCont && args[0].id != TypeId::kFloat8))
                return std::nullopt;
            return args[0];
        case kStringAgg:
            if (args.size() != 2 || args[0].id != TypeId::kText || args[1].id != TypeId::kText)
                return std::nullopt;
            return args[0];
        case kArrayAgg:
            if (args.size() != 1 || layout == nullptr ||
                layout->kind != plan::Layout::Kind::kArray || layout->parts[0].type != args[0])
                return std::nullopt;
            return layout->type;
        default:
            return has_window_aggregate(function, args) ? aggregate_type(function, args)
                                                        : std::nullopt;
    }
}

void compute_window(uint32_t function, const WindowInput& input, StoredColumn& out) {
    switch (function) {
        case kRowNumber:
            return row_number(input, out);
        case kRank:
            return rank(input, out);
        case kDenseRank:
            return dense_rank(input, out);
        case kPercentRank:
            return percent_rank(input, out);
        case kCumeDist:
            return cume_dist(input, out);
        case kNtile:
            return ntile(input, out);
        case kLag:
        case kLagOffset:
        case kLagDefault:
            return shifted(input, out, -1);
        case kLead:
        case kLeadOffset:
        case kLeadDefault:
            return shifted(input, out, 1);
        case kFirstValue:
            return take(input, out, [&](int64_t row) -> int32_t {
                const RowSpan frame = input.frames[row];
                return frame.length() > 0 ? frame.begin : -1;
            });
        case kLastValue:
            return take(input, out, [&](int64_t row) -> int32_t {
                const RowSpan frame = input.frames[row];
                return frame.length() > 0 ? frame.end - 1 : -1;
            });
        case kNthValue:
            return nth_value(input, out);
        case kPercentileDisc:
        case kPercentileCont:
        case kMode:
        case kStringAgg:
        case kArrayAgg:
            return compute_ordered_set(function, input, out);
        default:
            return compute_aggregate(function, input, out);
    }
}

}  // namespace loom::exec
