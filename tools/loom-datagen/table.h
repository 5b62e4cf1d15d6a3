#pragma once
// What a kind of data set offers: tables that can be made chunk by chunk, in any order.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "block.h"

namespace loom::datagen {

/// A partition key that is computed from a column, e.g. a year from a date.
struct DerivedKey {
    std::string name;
    std::string column;
    std::function<std::string(const column::ColumnView&, int64_t row)> text;
};

/// A table to be generated. make_chunk is thread safe, and a pure function of seed, size and chunk.
class Table {
  public:
    virtual ~Table() = default;

    const std::string& name() const noexcept { return name_; }
    const column::Schema& schema() const noexcept { return schema_; }
    const std::vector<DerivedKey>& derived_keys() const noexcept { return derived_keys_; }
    int64_t chunk_count() const noexcept { return chunk_count_; }
    /// Rows of a row group if the user does not say; smaller for very wide tables.
    int64_t row_group_rows() const noexcept { return row_group_rows_; }

    virtual Block make_chunk(int64_t chunk) const = 0;

  protected:
    void add_field(std::string name, column::TypePtr type, bool nullable = false);

    std::string name_;
    column::Schema schema_;
    std::vector<DerivedKey> derived_keys_;
    int64_t chunk_count_ = 0;
    int64_t row_group_rows_ = 122'880;
};

/// A table whose chunks, but the last, have the same number of rows.
class EvenTable : public Table {
  public:
    Block make_chunk(int64_t chunk) const final;

  protected:
    void set_rows(int64_t rows, int64_t chunk_rows);
    int64_t rows() const noexcept { return rows_; }
    /// Makes rows [first, first + count).
    virtual Block make_rows(int64_t first, int64_t count) const = 0;

  private:
    int64_t rows_ = 0;
    int64_t chunk_rows_ = 0;
};

/// What the command line says about the data.
struct Request {
    std::string kind;
    double scale = 1;
    int64_t rows = 0;  ///< 0: as the scale says
    uint64_t seed = 1;
    bool wkb = false;  ///< devices: with a WKB point
};

struct KindInfo {
    std::string name;
    std::string summary;
    std::vector<std::unique_ptr<Table>> (*make)(const Request&);
};

/// Returns all kinds.
const std::vector<KindInfo>& kinds();

/// Returns the tables of a kind. Raises kBadOption for an unknown kind or an impossible size.
std::vector<std::unique_ptr<Table>> make_tables(const Request& request);

std::vector<std::unique_ptr<Table>> make_ssb(const Request& request);
std::vector<std::unique_ptr<Table>> make_tpch(const Request& request);
std::vector<std::unique_ptr<Table>> make_access_log(const Request& request);
std::vector<std::unique_ptr<Table>> make_sensors(const Request& request);
std::vector<std::unique_ptr<Table>> make_wide(const Request& request);
std::vector<std::unique_ptr<Table>> make_devices(const Request& request);
std::vector<std::unique_ptr<Table>> make_areas(const Request& request);

/// Returns request.rows, or scale * rows_at_scale_1, at least 1.
int64_t wanted_rows(const Request& request, int64_t rows_at_scale_1);

}  // namespace loom::datagen
