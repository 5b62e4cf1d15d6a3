#include "output.h"

#include "column/scalar.h"
#include "format/arrow/writer.h"
#include "format/parquet/write/writer.h"
#include "text_format.h"

namespace loom::datagen {

namespace {

using column::TypeId;
using parquet::ValueEncoding;

bool suits(ValueEncoding encoding, const column::DataType& type) {
    const bool whole = column::is_integer(type.id) || type.id == TypeId::kTimestamp ||
                       type.id == TypeId::kDate32 ||
                       (type.id == TypeId::kDecimal && column::byte_width(type) <= 8);
    switch (encoding) {
        case ValueEncoding::kDeltaBinaryPacked:
            return whole;
        case ValueEncoding::kDeltaLengthByteArray:
        case ValueEncoding::kDeltaByteArray:
            return column::is_bytes(type.id);
        case ValueEncoding::kByteStreamSplit:
            return whole || type.id == TypeId::kFloat32 || type.id == TypeId::kFloat64;
        case ValueEncoding::kRle:
            return type.id == TypeId::kBool;
        case ValueEncoding::kPlain:
            return true;
    }
    return false;
}

class ParquetFile final : public OutputFile {
  public:
    ParquetFile(const column::Schema& schema, parquet::WriterOptions options,
                std::unique_ptr<io::Sink> sink)
        : writer_(schema, std::move(options), std::move(sink)) {}
    void write(Prepared& prepared) override {
        writer_.write(prepared.block.views(), prepared.block.rows);
    }
    void finish() override { writer_.finish(); }
    uint64_t bytes() const override { return writer_.bytes_written(); }

  private:
    parquet::Writer writer_;
};

std::unique_ptr<OutputFile> create_parquet(const std::string& path, const column::Schema& schema,
                                           const OutputOptions& options, int64_t row_group_rows,
                                           int threads) {
    parquet::WriterOptions writer;
    writer.codec = options.codec.value_or(codec::Codec::kSnappy);
    writer.row_group_rows = row_group_rows;
    writer.dictionary = options.dictionary;
    writer.page_version = options.page_version;
    writer.threads = threads;
    if (options.encoding)
        for (const column::Field& field : schema.fields)
            if (suits(*options.encoding, *field.type))
                writer.columns[field.name].encoding = options.encoding;
    return std::make_unique<ParquetFile>(schema, std::move(writer), io::create_local_file(path));
}

bool is_narrow_decimal(const column::DataType& type) {
    return type.id == TypeId::kDecimal && column::byte_width(type) == 8;
}

column::TypePtr widened(const column::TypePtr& type) {
    return is_narrow_decimal(*type) ? column::make_decimal(type->precision, type->scale, 16) : type;
}

column::Schema widened(column::Schema schema) {
    for (column::Field& field : schema.fields) field.type = widened(field.type);
    return schema;
}

/// Decimals of 8 bytes become decimals of 16: many readers of Arrow files know no others.
class ArrowFile final : public OutputFile {
  public:
    ArrowFile(const column::Schema& schema, arrow::WriterOptions options,
              std::unique_ptr<io::Sink> sink)
        : sink_(sink.get()), writer_(widened(schema), std::move(options), std::move(sink)) {}
    void prepare(Prepared& prepared) const override {
        for (column::Column& column : prepared.block.columns)
            if (is_narrow_decimal(*column.type))
                column = make_values<column::Int128>(
                    widened(column.type), column.length,
                    [&](int64_t row) { return column.values.as<int64_t>()[row]; });
    }
    void write(Prepared& prepared) override {
        writer_.write(prepared.block.views(), prepared.block.rows);
    }
    void finish() override { writer_.finish(); }
    uint64_t bytes() const override { return sink_->position(); }

  private:
    const io::Sink* sink_;  // owned by writer_
    arrow::Writer writer_;
};

std::unique_ptr<OutputFile> create_arrow(const std::string& path, const column::Schema& schema,
                                         const OutputOptions& options, int64_t row_group_rows) {
    arrow::WriterOptions writer;
    writer.codec = options.codec.value_or(codec::Codec::kNone);
    if (writer.codec == codec::Codec::kLz4Raw) writer.codec = codec::Codec::kLz4Frame;
    writer.record_batch_rows = row_group_rows;
    return std::make_unique<ArrowFile>(schema, std::move(writer), io::create_local_file(path));
}

class CsvFile final : public OutputFile {
  public:
    CsvFile(const column::Schema& schema, std::unique_ptr<io::Sink> sink) : sink_(std::move(sink)) {
        std::string header;
        for (const column::Field& field : schema.fields) {
            if (!header.empty()) header += ',';
            append_quoted(field.name, header);
        }
        sink_->write(base::as_bytes(header + "\r\n"));
    }
    void prepare(Prepared& prepared) const override {
        const std::vector<column::ColumnView> views = prepared.block.views();
        for (int64_t row = 0; row < prepared.block.rows; ++row) {
            for (size_t i = 0; i < views.size(); ++i) {
                if (i != 0) prepared.text += ',';
                append_csv_field(views[i], row, prepared.text);
            }
            prepared.text += "\r\n";
        }
    }
    void write(Prepared& prepared) override { sink_->write(base::as_bytes(prepared.text)); }
    void finish() override { sink_->close(); }
    uint64_t bytes() const override { return sink_->position(); }

  private:
    std::unique_ptr<io::Sink> sink_;
};

}  // namespace

std::string_view extension(FileFormat format) noexcept {
    switch (format) {
        case FileFormat::kParquet:
            return "parquet";
        case FileFormat::kArrow:
            return "arrow";
        case FileFormat::kCsv:
            return "csv";
    }
    return "";
}

std::unique_ptr<OutputFile> create_file(const std::string& path, const column::Schema& schema,
                                        const OutputOptions& options, int64_t row_group_rows,
                                        int threads) {
    switch (options.format) {
        case FileFormat::kParquet:
            return create_parquet(path, schema, options, row_group_rows, threads);
        case FileFormat::kCsv:
            return std::make_unique<CsvFile>(schema, io::create_local_file(path));
        case FileFormat::kArrow:
            return create_arrow(path, schema, options, row_group_rows);
    }
    base::raise(base::ErrorKind::kBug, "no such file format");
}

}  // namespace loom::datagen
