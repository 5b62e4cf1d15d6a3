#include "gpu/service/message.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/bitmap.h"

namespace loom::gpu {

namespace {

constexpr const char* kWhat = "a message to the device's process";

class Writer {
  public:
    template <typename T>
    void number(T value) {
        out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(std::string_view text) {
        number(static_cast<uint32_t>(text.size()));
        out_ += text;
    }
    void scalar(const column::Scalar& scalar) {
        number(static_cast<uint8_t>(scalar.kind));
        number(scalar.integer);
        number(scalar.number);
        text(scalar.bytes);
    }
    std::string take() { return std::move(out_); }

  private:
    std::string out_;
};

class Reader {
  public:
    explicit Reader(base::ByteSpan bytes) : in_(bytes) {}

    template <typename T>
    T number() {
        return in_.read<T>(kWhat);
    }
    bool flag() { return number<uint8_t>() != 0; }
    std::string text() { return std::string(base::as_text(in_.take(number<uint32_t>(), kWhat))); }
    // Every item takes at least a byte.
    uint32_t count() {
        const auto count = number<uint32_t>();
        if (count > in_.remaining()) base::corrupt("{} declares {} items", kWhat, count);
        return count;
    }
    column::Scalar scalar() {
        column::Scalar scalar;
        const auto kind = number<uint8_t>();
        if (kind > static_cast<uint8_t>(column::Scalar::Kind::kBytes))
            base::corrupt("{} holds a value of kind {}", kWhat, kind);
        scalar.kind = static_cast<column::Scalar::Kind>(kind);
        scalar.integer = number<column::Int128>();
        scalar.number = number<double>();
        scalar.bytes = text();
        return scalar;
    }
    base::ByteSpan take(uint64_t bytes) { return in_.take(bytes, kWhat); }
    bool at_end() const noexcept { return in_.at_end(); }
    void finish() const {
        if (!in_.at_end()) base::corrupt("{} has {} bytes too many", kWhat, in_.remaining());
    }

  private:
    base::ByteReader in_;
};

void write(Writer& out, const RequestFile& file) {
    out.text(file.path);
    out.number(file.identity);
    out.number(static_cast<uint32_t>(file.columns.size()));
    for (const exec::ScanFile::Column& column : file.columns) {
        out.number(static_cast<int32_t>(column.field));
        out.number(column.characters);
        out.scalar(column.value);
    }
}

RequestFile read_file(Reader& in) {
    RequestFile file;
    file.path = in.text();
    file.identity = in.number<io::FileIdentity>();
    file.columns.resize(in.count());
    for (exec::ScanFile::Column& column : file.columns) {
        column.field = in.number<int32_t>();
        column.characters = in.number<int32_t>();
        column.value = in.scalar();
    }
    return file;
}

// Batches: a number of rows, then for each column a bitmap of the values that are there and the
// values; of texts lengths of 8 bytes and the texts behind each other. A batch of no rows ends
// them.
void write(Writer& out, const exec::Vector& vector, int64_t rows) {
    std::string valid(static_cast<size_t>(base::bitmap_bytes(rows)), '\0');
    auto* bits = reinterpret_cast<uint8_t*>(valid.data());
    for (int64_t i = 0; i < rows; ++i) base::put_bit(bits, i, !vector.is_null(i));
    out.text(valid);
    const plan::Physical physical = plan::physical(vector.type);
    if (physical != plan::Physical::kBytes) {
        out.text({static_cast<const char*>(vector.values),
                  static_cast<size_t>(rows) * static_cast<size_t>(plan::width(physical))});
        return;
    }
    std::string texts;
    for (int64_t i = 0; i < rows; ++i) {
        const std::string_view text =
            vector.is_null(i) ? std::string_view() : vector.as<column::BytesView>()[i].text();
        out.number(static_cast<uint64_t>(text.size()));
        texts += text;
    }
    out.text(texts);
}

class ReceivedRows final : public exec::RowSource {
  public:
    ReceivedRows(std::string bytes, const std::vector<plan::Type>& types)
        : bytes_(std::move(bytes)), in_(base::as_bytes(bytes_)), types_(types) {
        columns_.resize(types.size());
    }

    int64_t fetch(std::span<exec::Vector> columns) override {
        if (ended_) return 0;
        const auto rows = in_.number<int64_t>();
        if (rows < 0 || rows > exec::kBatchRows) base::corrupt("{} has {} rows", kWhat, rows);
        ended_ = rows == 0;
        if (ended_) in_.finish();
        if (ended_) return 0;
        for (size_t c = 0; c < types_.size(); ++c) {
            read(columns_[c], plan::physical(types_[c]), rows);
            exec::Vector& vector = columns[c];
            vector = exec::Vector();
            vector.type = types_[c];
            vector.length = rows;
            vector.values = columns_[c].values.data();
            vector.validity = columns_[c].validity.data();
        }
        return rows;
    }

  private:
    // Vectors have room for reads behind their end.
    struct Column {
        base::Buffer values;
        base::Buffer validity;
    };

    static void put(base::Buffer& buffer, base::ByteSpan bytes) {
        buffer.resize_discarding(bytes.size());
        if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
    }

    void read(Column& column, plan::Physical physical, int64_t rows) {
        const base::ByteSpan valid = in_.take(in_.number<uint32_t>());
        if (valid.size() != static_cast<size_t>(base::bitmap_bytes(rows)))
            base::corrupt("{} has a bitmap of {} bytes for {} rows", kWhat, valid.size(), rows);
        put(column.validity, valid);
        const auto width = static_cast<size_t>(plan::width(physical));
        if (physical != plan::Physical::kBytes) {
            const base::ByteSpan values = in_.take(in_.number<uint32_t>());
            if (values.size() != static_cast<size_t>(rows) * width)
                base::corrupt("{} has {} bytes for {} values", kWhat, values.size(), rows);
            put(column.values, values);
            return;
        }
        std::vector<uint64_t> lengths(static_cast<size_t>(rows));
        for (uint64_t& length : lengths) length = in_.number<uint64_t>();
        base::ByteSpan texts = in_.take(in_.number<uint32_t>());
        column.values.resize_discarding(static_cast<uint64_t>(rows) * width);
        auto* views = column.values.as<column::BytesView>();
        for (size_t i = 0; i < lengths.size(); ++i) {
            const base::ByteSpan text = base::checked_slice(texts, 0, lengths[i], kWhat);
            views[i] = {text.data(), static_cast<int64_t>(text.size())};
            texts = texts.subspan(text.size());
        }
    }

    std::string bytes_;
    Reader in_;
    std::vector<plan::Type> types_;
    std::vector<Column> columns_;
    bool ended_ = false;
};

}  // namespace

std::string join_fields(std::span<const std::string> fields) {
    std::string bytes;
    for (const std::string& field : fields) {
        bytes += field;
        bytes += '\0';
    }
    return bytes;
}

std::vector<std::string> split_fields(std::string_view bytes) {
    std::vector<std::string> fields;
    for (size_t end = 0; (end = bytes.find('\0')) != bytes.npos; bytes.remove_prefix(end + 1))
        fields.emplace_back(bytes.substr(0, end));
    return fields;
}

std::string encode(const RunRequest& request) {
    Writer out;
    out.text(request.plan);
    out.number(static_cast<uint8_t>(request.prepared));
    out.number(static_cast<uint32_t>(request.tables.size()));
    for (const std::vector<RequestFile>& table : request.tables) {
        out.number(static_cast<uint32_t>(table.size()));
        for (const RequestFile& file : table) write(out, file);
    }
    out.number(static_cast<uint32_t>(request.parameters.size()));
    for (const plan::ParameterValue& parameter : request.parameters) {
        out.scalar(parameter.value);
        out.number(static_cast<uint32_t>(parameter.list.size()));
        for (const column::Scalar& item : parameter.list) out.scalar(item);
        out.number(static_cast<uint8_t>(parameter.list_null));
    }
    return out.take();
}

RunRequest decode_request(base::ByteSpan bytes) {
    Reader in(bytes);
    RunRequest request;
    request.plan = in.text();
    request.prepared = in.flag();
    const uint32_t tables = in.count();
    for (uint32_t t = 0; t < tables; ++t) {
        std::vector<RequestFile>& table = request.tables.emplace_back();
        const uint32_t files = in.count();
        for (uint32_t f = 0; f < files; ++f) table.push_back(read_file(in));
    }
    const uint32_t parameters = in.count();
    for (uint32_t p = 0; p < parameters; ++p) {
        plan::ParameterValue& parameter = request.parameters.emplace_back();
        parameter.value = in.scalar();
        const uint32_t items = in.count();
        for (uint32_t i = 0; i < items; ++i) parameter.list.push_back(in.scalar());
        parameter.list_null = in.flag();
    }
    in.finish();
    return request;
}

std::string encode_rows(exec::RowSource& rows, const std::vector<plan::Type>& types) {
    Writer out;
    std::vector<exec::Vector> vectors(types.size());
    for (;;) {
        const int64_t count = rows.fetch(vectors);
        out.number(count);
        if (count == 0) return out.take();
        for (const exec::Vector& vector : vectors) write(out, vector, count);
    }
}

std::unique_ptr<exec::RowSource> decode_rows(std::string bytes,
                                             const std::vector<plan::Type>& types) {
    return std::make_unique<ReceivedRows>(std::move(bytes), types);
}

}  // namespace loom::gpu
