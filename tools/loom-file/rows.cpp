// head, cat and digest: everything that reads values.

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "column/text.h"
#include "commands.h"
#include "digest.h"

namespace loom::file_tool {

using column::ColumnView;

namespace {

void write_out(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
        base::raise(base::ErrorKind::kIo, "could not write to standard output");
}

void append_csv(std::string_view text, std::string& out) {
    // An empty text is quoted, because an unquoted nothing means NULL.
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += text;
        return;
    }
    out += '"';
    for (char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

class RowPrinter {
  public:
    RowPrinter(const format::TableReader& table, const Options& options)
        : table_(table),
          options_(options),
          columns_(chosen_columns(table, options)),
          style_(options.style) {
        style_.hex_binary = true;
    }

    void header() {
        if (options_.rows != RowFormat::kCsv) return;
        std::string line;
        for (int column : columns_) {
            if (column != columns_.front()) line += ',';
            append_csv(name(column), line);
        }
        write_out(line + '\n');
    }

    void rows() {
        int64_t left = options_.limit < 0 ? table_.row_count() : options_.limit;
        for (int64_t group = 0; group < table_.row_group_count() && left > 0; ++group) {
            const int64_t rows = std::min(left, table_.row_group_rows(group));
            left -= rows;
            std::vector<std::unique_ptr<format::ColumnReader>> readers;
            for (int column : columns_) readers.push_back(table_.open_column(group, column, {}));
            for (int64_t row = 0; row < rows; row += column::kBatchRows)
                batch(readers, row, std::min(column::kBatchRows, rows - row));
        }
    }

  private:
    const std::string& name(int column) const {
        return table_.schema().fields[static_cast<size_t>(column)].name;
    }

    void batch(std::vector<std::unique_ptr<format::ColumnReader>>& readers, int64_t row,
               int64_t count) {
        std::vector<ColumnView> views;
        views.reserve(readers.size());
        for (auto& reader : readers) views.push_back(reader->read(row, count));
        std::string out;
        for (int64_t i = 0; i < count; ++i) {
            options_.rows == RowFormat::kCsv ? csv(views, i, out) : json(views, i, out);
            out += '\n';
        }
        write_out(out);
    }

    void csv(const std::vector<ColumnView>& views, int64_t row, std::string& out) {
        for (size_t i = 0; i < views.size(); ++i) {
            if (i != 0) out += ',';
            if (column::is_null_value(views[i], row)) continue;
            text_.clear();
            column::append_text(views[i], row, style_, text_);
            append_csv(text_, out);
        }
    }

    void json(const std::vector<ColumnView>& views, int64_t row, std::string& out) {
        out += '{';
        for (size_t i = 0; i < views.size(); ++i) {
            if (i != 0) out += ',';
            column::append_json_string(name(columns_[i]), out);
            out += ':';
            column::append_json(views[i], row, style_, out);
        }
        out += '}';
    }

    const format::TableReader& table_;
    const Options& options_;
    std::vector<int> columns_;
    column::TextStyle style_;
    std::string text_;
};

// Tabs and line ends would break the line.
std::string field_text(std::string_view text) {
    std::string out;
    for (char c : text) {
        switch (c) {
            case '\t':
                out += "\\t";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                out += "\\r";
                break;
            case '\\':
                out += "\\\\";
                break;
            default:
                out += c;
        }
    }
    return out;
}

}  // namespace

std::vector<int> chosen_columns(const format::TableReader& table, const Options& options) {
    std::vector<int> columns;
    if (options.columns.empty())
        for (size_t i = 0; i < table.schema().fields.size(); ++i)
            columns.push_back(static_cast<int>(i));
    for (const std::string& name : options.columns) {
        const int column = table.schema().find(name);
        if (column < 0)
            base::raise(base::ErrorKind::kBadName, "file \"{}\" has no column \"{}\"",
                        table.file().path(), name);
        columns.push_back(column);
    }
    return columns;
}

void print_rows(const format::TableReader& table, const Options& options) {
    RowPrinter printer(table, options);
    printer.header();
    printer.rows();
}

void print_digest(const format::TableReader& table, const Options& options) {
    for (int column : chosen_columns(table, options)) {
        const column::Field& field = table.schema().fields[static_cast<size_t>(column)];
        ColumnDigest digest(*field.type, options.style);
        for (int64_t group = 0; group < table.row_group_count(); ++group) {
            const int64_t rows = table.row_group_rows(group);
            auto reader = table.open_column(group, column, {});
            for (int64_t row = 0; row < rows; row += column::kBatchRows)
                digest.add(reader->read(row, std::min(column::kBatchRows, rows - row)));
        }
        const std::string line = fmt::format(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", table.row_count(), field_text(field.name),
            field_text(column::to_string(*field.type)), digest.non_null(), digest.sum(),
            field_text(digest.min()), field_text(digest.max()), digest.hash());
        write_out(options.with_name ? table.file().path() + "\t" + line : line);
    }
}

}  // namespace loom::file_tool
