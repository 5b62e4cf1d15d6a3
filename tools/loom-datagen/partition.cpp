#include "partition.h"

#include <cctype>

#include "text_format.h"

namespace loom::datagen {

namespace {

const DerivedKey* find_derived(const Table& table, const std::string& name) {
    for (const DerivedKey& key : table.derived_keys())
        if (key.name == name) return &key;
    return nullptr;
}

// Percent-encodes what may have a meaning in a path.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (std::isalnum(static_cast<uint8_t>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
            c == ' ')
            result += c;
        else
            result += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    }
    return result;
}

}  // namespace

bool PartitionKey::exists(const Table& table, const std::string& name) {
    return table.schema().find(name) >= 0 || find_derived(table, name) != nullptr;
}

PartitionKey::PartitionKey(const Table& table, const std::string& name)
    : name_(name), column_(table.schema().find(name)), schema_(table.schema()) {
    if (column_ >= 0) {
        schema_.fields.erase(schema_.fields.begin() + column_);
        return;
    }
    derived_ = find_derived(table, name);
    if (derived_ == nullptr)
        base::raise(base::ErrorKind::kBadName,
                    "table \"{}\" has no column \"{}\" to be partitioned by", table.name(), name);
    column_ = table.schema().find(derived_->column);
}

std::string PartitionKey::directory_of(const column::ColumnView& view, int64_t row) const {
    if (view.is_null(row)) return name_ + "=__HIVE_DEFAULT_PARTITION__";
    std::string text;
    if (derived_ != nullptr)
        text = derived_->text(view, row);
    else
        append_text(view, row, text);
    return name_ + "=" + escaped(text);
}

std::map<std::string, Block> PartitionKey::split(Block& block) const {
    const column::ColumnView keys = block.columns[column_].view();
    std::map<std::string, std::vector<int64_t>> rows;
    for (int64_t row = 0; row < block.rows; ++row) rows[directory_of(keys, row)].push_back(row);
    std::map<std::string, Block> parts;
    for (const auto& [directory, picked] : rows) {
        Block& part = parts[directory];
        part.rows = static_cast<int64_t>(picked.size());
        for (size_t i = 0; i < block.columns.size(); ++i)
            if (derived_ != nullptr || static_cast<int>(i) != column_)
                part.columns.push_back(take_rows(block.columns[i], picked));
    }
    return parts;
}

}  // namespace loom::datagen
