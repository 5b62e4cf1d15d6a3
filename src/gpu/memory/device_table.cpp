#include "gpu/memory/device_table.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "exec/scan/load.h"
#include "gpu/memory/encode.h"

namespace loom::gpu {

namespace {

// Rows of a block at most, but for larger row groups: enough that all warps of a block of threads
// go round many times, and few enough that blocks come and go one by one.
constexpr int64_t kBlockRows = int64_t{1} << 20;

// A block's values before they are encoded.
struct Decoded {
    std::vector<int64_t> values;
    std::vector<uint8_t> valid;
    bool has_null = false;
    ColumnShape shape;

    Values view() const {
        return {values, has_null ? std::span<const uint8_t>(valid) : std::span<const uint8_t>()};
    }
};

int64_t integer_at(const exec::Vector& vector, plan::Physical physical, int64_t row) {
    switch (physical) {
        case plan::Physical::kBool:
            return vector.as<uint8_t>()[row];
        case plan::Physical::kInt16:
            return vector.as<int16_t>()[row];
        case plan::Physical::kInt32:
            return vector.as<int32_t>()[row];
        default:
            return vector.as<int64_t>()[row];
    }
}

// Reads one column of one block.
class BlockDecoder {
  public:
    BlockDecoder(plan::Type type, TextDictionary* texts) : type_(type), texts_(texts) {}

    Decoded decode(const exec::ScanFile& file, const BlockRows& block, int column) {
        Decoded out;
        out.values.reserve(static_cast<size_t>(block.rows));
        out.valid.assign(static_cast<size_t>(block.rows + 7) / 8, 0);
        const exec::ScanFile::Column& bound = file.columns[static_cast<size_t>(column)];
        if (bound.field < 0) {
            const bool known = bound.value.known();
            int64_t value = 0;
            if (known)
                value = texts_ != nullptr ? texts_->code(bound.value.bytes)
                                          : static_cast<int64_t>(bound.value.integer);
            for (int64_t row = 0; row < block.rows; ++row) put(out, known, value);
        } else {
            exec::Loader loader(
                *file.reader->schema().fields[static_cast<size_t>(bound.field)].type, type_,
                nullptr, bound.characters);
            for (int64_t group = block.first_group; group < block.first_group + block.groups;
                 ++group) {
                const auto reader = file.reader->open_column(group, bound.field, {});
                const int64_t rows = file.reader->row_group_rows(group);
                for (int64_t row = 0; row < rows; row += column::kBatchRows)
                    add(loader.load(
                            reader->read(row, std::min<int64_t>(column::kBatchRows, rows - row))),
                        out);
            }
        }
        out.shape.add(out.view());
        return out;
    }

  private:
    static void put(Decoded& out, bool valid, int64_t value) {
        const size_t row = out.values.size();
        if (valid)
            out.valid[row / 8] |= static_cast<uint8_t>(1U << row % 8);
        else
            out.has_null = true;
        out.values.push_back(value);
    }

    void add(const exec::Vector& vector, Decoded& out) {
        const bool constant = vector.form == exec::Form::kConstant;
        if (vector.form == exec::Form::kCodes) return add_codes(vector, out);
        const plan::Physical physical = plan::physical(type_);
        for (int64_t row = 0; row < vector.length; ++row) {
            const bool valid = !vector.is_null(row);
            const int64_t at = constant ? 0 : row;
            int64_t value = 0;
            if (valid)
                value = texts_ != nullptr ? code_of(vector.as<column::BytesView>()[at])
                                          : integer_at(vector, physical, at);
            put(out, valid, value);
        }
    }

    void add_codes(const exec::Vector& vector, Decoded& out) {
        const exec::Vector& entries = vector.dictionary->values;
        if (version_ != vector.dictionary->version || entries_.empty()) {
            version_ = vector.dictionary->version;
            entries_.assign(static_cast<size_t>(entries.length), 0);
            for (int64_t i = 0; i < entries.length; ++i)
                if (!entries.is_null(i))
                    entries_[static_cast<size_t>(i)] =
                        texts_ != nullptr ? code_of(entries.as<column::BytesView>()[i])
                                          : integer_at(entries, plan::physical(type_), i);
        }
        for (int64_t row = 0; row < vector.length; ++row) {
            const bool valid = !vector.is_null(row) && !entries.is_null(vector.code(row));
            put(out, valid, valid ? entries_[vector.code(row)] : 0);
        }
    }

    // Texts that this block has had are found without the lock.
    int64_t code_of(const column::BytesView& bytes) {
        const auto [at, fresh] = known_.try_emplace(std::string(bytes.text()), 0);
        if (fresh) at->second = texts_->code(bytes.text());
        return at->second;
    }

    plan::Type type_;
    TextDictionary* texts_;
    uint64_t version_ = 0;
    std::vector<int64_t> entries_;
    std::unordered_map<std::string, uint32_t> known_;
};

// Runs work(0) to work(count - 1) on some threads; the first exception of any leaves.
template <typename Work>
void in_parallel(size_t count, int threads, const Work& work) {
    std::atomic<size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto run = [&] {
        for (size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                const std::scoped_lock lock(mutex);
                if (!failure) failure = std::current_exception();
                next = count;
            }
        }
    };
    std::vector<std::jthread> others;
    const auto wanted = std::min<size_t>(count, static_cast<size_t>(std::max(1, threads)));
    for (size_t i = 1; i < wanted; ++i) others.emplace_back(run);
    run();
    others.clear();
    if (failure) std::rethrow_exception(failure);
}

uint64_t aligned(uint64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

template <typename T>
uint64_t bytes_of(const std::vector<T>& values) {
    return values.size() * sizeof(T);
}

}  // namespace

uint32_t TextDictionary::code(std::string_view text) {
    const std::scoped_lock lock(mutex_);
    const auto [at, fresh] =
        codes_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
    if (fresh) texts_.push_back(&at->first);
    return at->second;
}

uint32_t TextDictionary::size() const {
    const std::scoped_lock lock(mutex_);
    return static_cast<uint32_t>(texts_.size());
}

std::string_view TextDictionary::text(uint32_t code) const {
    const std::scoped_lock lock(mutex_);
    return *texts_[code];
}

std::vector<BlockRows> blocks_of(const exec::TableSource& table) {
    std::vector<BlockRows> blocks;
    for (size_t f = 0; f < table.files.size(); ++f) {
        const format::TableReader& reader = *table.files[f].reader;
        BlockRows block;
        const auto end = [&] {
            if (block.rows > 0) blocks.push_back(block);
        };
        for (int64_t group = 0; group < reader.row_group_count(); ++group) {
            const int64_t rows = reader.row_group_rows(group);
            if (block.groups == 0 || block.rows + rows > kBlockRows) {
                end();
                block = {static_cast<int>(f), group, 0, 0};
            }
            ++block.groups;
            block.rows += rows;
        }
        end();
    }
    return blocks;
}

bool can_hold(plan::Type type) {
    if (type.id == plan::TypeId::kText) return true;
    if (plan::is_opaque(type)) return false;
    switch (plan::physical(type)) {
        case plan::Physical::kBool:
        case plan::Physical::kInt16:
        case plan::Physical::kInt32:
        case plan::Physical::kInt64:
            return true;
        default:
            return false;
    }
}

std::shared_ptr<const DeviceColumn> load_column(Device& device, Stream& stream,
                                                const exec::TableSource& table,
                                                const std::vector<BlockRows>& blocks, int column,
                                                plan::Type type, int threads) {
    auto made = std::make_shared<DeviceColumn>();
    made->facts.type = type;
    if (type.id == plan::TypeId::kText) {
        made->texts = std::make_shared<TextDictionary>();
        made->facts.dictionary = true;
    }
    std::vector<Decoded> decoded(blocks.size());
    in_parallel(blocks.size(), threads, [&](size_t i) {
        decoded[i] =
            BlockDecoder(type, made->texts.get())
                .decode(table.files[static_cast<size_t>(blocks[i].file)], blocks[i], column);
    });
    ColumnShape shape;
    for (const Decoded& block : decoded) shape.add(block.shape);
    ScanColumn& facts = made->facts;
    facts.layout = shape.layout();
    if (shape.has_values()) {
        facts.min = shape.min();
        facts.max = shape.max();
        facts.origin = facts.layout.encoding == Encoding::kWide ? 0 : shape.min() & ~int64_t{31};
    }

    made->views.resize(blocks.size());
    made->memory.resize(blocks.size());
    std::mutex mutex;
    in_parallel(blocks.size(), threads, [&](size_t i) {
        const EncodedBlock block = encode(decoded[i].view(), facts.layout);
        decoded[i] = {};
        const uint64_t bases_at = aligned(bytes_of(block.data));
        const uint64_t valid_at = bases_at + aligned(bytes_of(block.tile_bases));
        const uint64_t bytes = valid_at + aligned(bytes_of(block.valid));
        const std::scoped_lock lock(mutex);
        DeviceMemory memory(device, std::max<uint64_t>(bytes, 256));
        const auto put = [&](uint64_t at, const auto& values) -> DeviceAddress {
            if (values.empty()) return 0;
            stream.upload(memory.address() + at, values.data(), bytes_of(values));
            return memory.address() + at;
        };
        BlockView& view = made->views[i];
        view.data = reinterpret_cast<const uint8_t*>(put(0, block.data));
        view.tile_bases = reinterpret_cast<const uint32_t*>(put(bases_at, block.tile_bases));
        view.valid = reinterpret_cast<const uint16_t*>(put(valid_at, block.valid));
        if (block.min <= block.max && facts.layout.encoding != Encoding::kWide)
            view.base = static_cast<uint32_t>(static_cast<uint64_t>(block.base) -
                                              static_cast<uint64_t>(facts.origin));
        stream.wait();
        made->memory[i] = std::move(memory);
        made->bytes += bytes;
    });
    return made;
}

}  // namespace loom::gpu
