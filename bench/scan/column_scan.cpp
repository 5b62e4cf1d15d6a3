#include "column_scan.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "format/table_reader.h"

namespace loom::bench {

using column::ColumnView;
using column::kBatchRows;
using column::TypeId;

namespace {

/// What one thread has seen.
struct Partial {
    ScanResult result;

    void add_numbers(const ColumnView& view);
    void add_lengths(const ColumnView& view);
    void count_codes(const ColumnView& view, std::vector<int64_t>& counts);
    void add_groups(const column::Dictionary& dictionary, const std::vector<int64_t>& counts);
};

template <typename T, typename Sum>
void sum_values(const ColumnView& view, Sum& total) {
    const T* values = view.as<T>();
    using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    Accumulator sum = 0;
    if (view.validity == nullptr) {
        for (int64_t i = 0; i < view.length; ++i) sum += static_cast<Accumulator>(values[i]);
    } else {
        for (int64_t i = 0; i < view.length; ++i)
            if (base::bit_at(view.validity, i)) sum += static_cast<Accumulator>(values[i]);
    }
    total += static_cast<Sum>(sum);
}

int64_t count_nulls(const ColumnView& view) {
    if (view.validity == nullptr) return 0;
    return view.null_count >= 0 ? view.null_count
                                : view.length - base::count_bits(view.validity, 0, view.length);
}

void Partial::add_numbers(const ColumnView& view) {
    switch (view.type->id) {
        case TypeId::kInt16:
            sum_values<int16_t>(view, result.sum);
            break;
        case TypeId::kInt32:
            sum_values<int32_t>(view, result.sum);
            break;
        case TypeId::kInt64:
        case TypeId::kTimestamp:
            sum_values<int64_t>(view, result.sum);
            break;
        case TypeId::kFloat32:
            sum_values<float>(view, result.float_sum);
            break;
        case TypeId::kFloat64:
            sum_values<double>(view, result.float_sum);
            break;
        default:
            base::raise(base::ErrorKind::kUnsupported, "no sum of {}",
                        column::to_string(*view.type));
    }
    result.decoded_bytes += view.length * byte_width(*view.type);
}

void Partial::add_lengths(const ColumnView& view) {
    if (!column::is_bytes(view.type->id))
        base::raise(base::ErrorKind::kUnsupported, "no length of {}",
                    column::to_string(*view.type));
    const auto* values = view.as<column::BytesView>();
    int64_t bytes = 0;
    for (int64_t i = 0; i < view.length; ++i)
        if (!view.is_null(i)) bytes += values[i].size;
    result.sum += bytes;
    result.decoded_bytes += bytes;
}

// Counts codes; NULL rows go to the last counter.
void Partial::count_codes(const ColumnView& view, std::vector<int64_t>& counts) {
    for (int64_t i = 0; i < view.length; ++i)
        ++counts[view.is_null(i) ? counts.size() - 1 : view.code(i)];
    result.decoded_bytes += view.length * view.code_width;
}

void Partial::add_groups(const column::Dictionary& dictionary, const std::vector<int64_t>& counts) {
    const auto* words = dictionary.values.as<column::BytesView>();
    for (int64_t code = 0; code < dictionary.values.length; ++code)
        if (counts[code] != 0) result.groups[std::string(words[code].text())] += counts[code];
}

void scan_row_group(const format::TableReader& table, int64_t row_group, int column,
                    Measure measure, Partial& partial) {
    format::ReadOptions options;
    options.decode_dictionary = measure != Measure::kGroups;
    const auto reader = table.open_column(row_group, column, options);
    const int64_t rows = table.row_group_rows(row_group);
    std::vector<int64_t> counts;
    if (measure == Measure::kGroups) {
        if (reader->encoding() != column::Encoding::kDictionary)
            base::raise(base::ErrorKind::kUnsupported, "the column has no dictionary");
        counts.resize(reader->dictionary()->values.length + 1);
    }
    for (int64_t row = 0; row < rows; row += kBatchRows) {
        const ColumnView view = reader->read(row, std::min(kBatchRows, rows - row));
        switch (measure) {
            case Measure::kSum:
                partial.add_numbers(view);
                break;
            case Measure::kLength:
                partial.add_lengths(view);
                break;
            case Measure::kGroups:
                partial.count_codes(view, counts);
                break;
        }
        partial.result.nulls += count_nulls(view);
    }
    partial.result.rows += rows;
    if (measure == Measure::kGroups) partial.add_groups(*reader->dictionary(), counts);
}

void merge(const ScanResult& part, ScanResult& whole) {
    whole.rows += part.rows;
    whole.nulls += part.nulls;
    whole.decoded_bytes += part.decoded_bytes;
    whole.sum += part.sum;
    whole.float_sum += part.float_sum;
    for (const auto& [word, count] : part.groups) whole.groups[word] += count;
}

}  // namespace

ScanResult scan_column(const std::string& path, const std::string& column, int threads,
                       Measure measure) {
    const auto start = std::chrono::steady_clock::now();
    const auto table = format::open_table(io::open_local_file(path), {});
    const int index = table->schema().find(column);
    if (index < 0) base::raise(base::ErrorKind::kBadName, "no column \"{}\"", column);
    std::atomic<int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    ScanResult whole;
    auto work = [&] {
        Partial partial;
        try {
            for (int64_t group = next++; group < table->row_group_count(); group = next++)
                scan_row_group(*table, group, index, measure, partial);
        } catch (...) {
            std::lock_guard lock(mutex);
            failure = std::current_exception();
        }
        std::lock_guard lock(mutex);
        merge(partial.result, whole);
    };
    {
        std::vector<std::jthread> crew;
        for (int i = 1; i < threads; ++i) crew.emplace_back(work);
        work();
    }
    if (failure) std::rethrow_exception(failure);
    whole.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return whole;
}

}  // namespace loom::bench
