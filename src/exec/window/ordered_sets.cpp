// Aggregates that need the rows of a group in order.

#include <cmath>
#include <cstring>
#include <string>

#include "exec/datum/value_writer.h"
#include "exec/fault.h"
#include "exec/window/functions.h"

namespace loom::exec {

namespace {

constexpr uint32_t kPercentileDisc = 3972;
constexpr uint32_t kPercentileCont = 3974;
constexpr uint32_t kMode = 3984;
constexpr uint32_t kArrayAgg = 2335;

// Returns the end of the partition's rows that are not NULL; NULLs come last.
int32_t known_end(const Vector& values, RowSpan partition) {
    int32_t end = partition.end;
    if (values.validity == nullptr) return end;
    int32_t begin = partition.begin;
    while (begin < end) {
        const int32_t middle = begin + (end - begin) / 2;
        if (values.is_null(middle))
            end = middle;
        else
            begin = middle + 1;
    }
    return end;
}

// Calls body(partition) for each.
template <typename Body>
void each_partition(const WindowInput& input, Body&& body) {
    for (int64_t row = 0; row < input.length();) {
        input.poll();
        const RowSpan partition = input.partitions[row];
        body(partition);
        row = partition.end;
    }
}

// Appends the rows of `source` that places[i] says, -1 being NULL.
void append_places(const WindowInput& input, const StoredColumn& source, const int32_t* places,
                   StoredColumn& out) {
    base::Buffer values(input.budget);
    base::Buffer validity(input.budget);
    for (int64_t begin = 0; begin < input.length(); begin += kBatchRows) {
        input.poll();
        const int64_t count = std::min(kBatchRows, input.length() - begin);
        out.append(source.gather(places + begin, count, values, validity));
    }
}

// The fraction of a partition, or nothing if it is NULL.
std::optional<double> fraction_of(const Vector& fractions, RowSpan partition) {
    if (fractions.is_null(partition.begin)) return std::nullopt;
    const double fraction = fractions.as<double>()[partition.begin];
    // PostgreSQL's message names the value; its own plan says it.
    if (fraction < 0 || fraction > 1 || std::isnan(fraction))
        throw SqlFault("22003", "percentile value is not between 0 and 1");
    return fraction;
}

// The place of the value whose share of the rows before and up to it reaches the fraction.
int32_t discrete_place(const Vector& fractions, RowSpan partition, int32_t end) {
    const auto fraction = fraction_of(fractions, partition);
    const int32_t count = end - partition.begin;
    if (!fraction || count == 0) return -1;
    const auto number = static_cast<int64_t>(std::ceil(*fraction * count));
    return static_cast<int32_t>(partition.begin + std::max<int64_t>(number, 1) - 1);
}

// The place of the most frequent value: of the first one, if there are several.
int32_t mode_place(const WindowInput& input, RowSpan partition, int32_t end) {
    int32_t best = -1;
    int64_t most = 0;
    for (int32_t row = partition.begin; row < end;) {
        const RowSpan peers = input.peers[row];
        if (peers.length() > most) {
            most = peers.length();
            best = row;
        }
        row = peers.end;
    }
    return best;
}

void choose(uint32_t function, const WindowInput& input, StoredColumn& out) {
    const StoredColumn& source = input.rows.column(static_cast<size_t>(input.args[0]));
    const Vector values = source.view();
    base::Buffer places(input.budget);
    places.resize(static_cast<uint64_t>(input.length()) * sizeof(int32_t));
    auto* chosen = places.as<int32_t>();
    if (input.length() > 0) std::memset(chosen, 0xff, places.size());
    each_partition(input, [&](RowSpan partition) {
        const int32_t end = known_end(values, partition);
        chosen[partition.begin] = function == kMode ? mode_place(input, partition, end)
                                                    : discrete_place(input.arg(1), partition, end);
    });
    append_places(input, source, chosen, out);
}

// Between two values where the fraction falls between two rows.
void percentile_cont(const WindowInput& input, StoredColumn& out) {
    const Vector values = input.arg(0);
    const Vector fractions = input.arg(1);
    base::Buffer results(input.budget);
    base::Buffer present(input.budget);
    results.resize(static_cast<uint64_t>(input.length()) * sizeof(double));
    present.resize(static_cast<uint64_t>(input.length()));
    if (input.length() > 0) {
        std::memset(results.data(), 0, results.size());
        std::memset(present.data(), 0, present.size());
    }
    each_partition(input, [&](RowSpan partition) {
        const auto fraction = fraction_of(fractions, partition);
        const int32_t count = known_end(values, partition) - partition.begin;
        if (!fraction || count == 0) return;
        const double place = *fraction * (count - 1);
        const auto* from = values.as<double>() + partition.begin;
        const double first = from[static_cast<int64_t>(std::floor(place))];
        const double second = from[static_cast<int64_t>(std::ceil(place))];
        const double share = place - std::floor(place);
        results.as<double>()[partition.begin] =
            share == 0 ? first : first + share * (second - first);
        present.data()[partition.begin] = 1;
    });
    append_values(out, results.data(), present.data(), input.length());
}

// Appends the result of a partition and NULL for its other rows.
void append_result(StoredColumn& out, const column::BytesView* result, int64_t rows) {
    if (result != nullptr) out.append_bytes(*result);
    for (int64_t left = result != nullptr ? rows - 1 : rows; left > 0; left -= kBatchRows)
        out.append_nulls(std::min(left, kBatchRows));
}

// Texts one behind the other; before each but the first its own delimiter.
void string_agg(const WindowInput& input, StoredColumn& out) {
    const Vector texts = input.arg(0);
    const Vector delimiters = input.arg(1);
    const auto text_of = [](const Vector& vector, int64_t row) {
        return vector.form == Form::kCodes
                   ? vector.dictionary->values.as<column::BytesView>()[vector.code(row)]
                   : vector.as<column::BytesView>()[row];
    };
    constexpr size_t kMost = size_t{1} << 30;
    std::string joined;
    each_partition(input, [&](RowSpan partition) {
        joined.clear();
        bool any = false;
        for (int32_t row = partition.begin; row < partition.end; ++row) {
            if (row % kBatchRows == 0) input.poll();
            if (texts.is_null(row)) continue;
            if (any && !delimiters.is_null(row)) joined += text_of(delimiters, row).text();
            joined += text_of(texts, row).text();
            any = true;
            if (joined.size() >= kMost) throw SqlFault("54000", "a text of more than 1 GB");
        }
        const column::BytesView text{reinterpret_cast<const uint8_t*>(joined.data()),
                                     static_cast<int64_t>(joined.size())};
        append_result(out, any ? &text : nullptr, partition.length());
    });
}

// The values of the rows that the filter lets pass, NULLs too.
void array_agg(const WindowInput& input, StoredColumn& out) {
    const Vector values = input.arg(0);
    const auto counts = [&](int64_t row) {
        if (input.filter < 0) return true;
        const StoredColumn& filter = input.rows.column(static_cast<size_t>(input.filter));
        return !filter.is_null(row) && filter.values<uint8_t>()[row] != 0;
    };
    const plan::Layout& element = input.layout->parts[0];
    ValueWriter writer(input.budget);
    each_partition(input, [&](RowSpan partition) {
        writer.clear();
        int64_t length = 0;
        bool nulls = false;
        for (int32_t row = partition.begin; row < partition.end; ++row) {
            if (row % kBatchRows == 0) input.poll();
            if (!counts(row)) continue;
            ++length;
            nulls = nulls || values.is_null(row);
        }
        const uint64_t start = writer.start_value();
        ValueWriter::Array array(writer, element, length, nulls);
        for (int32_t row = partition.begin; row < partition.end; ++row) {
            if (row % kBatchRows == 0) input.poll();
            if (!counts(row)) continue;
            if (values.is_null(row))
                array.put_null();
            else
                array.put([&] { writer.put(element, values, row); });
        }
        array.finish();
        const column::BytesView result = writer.payload(start);
        append_result(out, length > 0 ? &result : nullptr, partition.length());
    });
}

}  // namespace

void compute_ordered_set(uint32_t function, const WindowInput& input, StoredColumn& out) {
    switch (function) {
        case kPercentileDisc:
        case kMode:
            return choose(function, input, out);
        case kPercentileCont:
            return percentile_cont(input, out);
        case kArrayAgg:
            return array_agg(input, out);
        default:
            return string_agg(input, out);
    }
}

}  // namespace loom::exec
